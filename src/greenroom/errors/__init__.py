"""Every error that a user of greenroom can meet.

One tree. Each middle class stands for one exit status of the command; each leaf is named
for a fact and writes its own sentence from typed facts, so that callers pass facts only::

    GreenroomError
        FailedError           status 1: a build, a proof or a check failed
        UseError              status 2: wrong use or declaration
        NotReadyError         status 3: an environment is not there yet
        InterruptedRunError   status 130: stopped by Ctrl-C

``str()`` of each is one line: where, what, what to do. All survive pickling, because Ray
carries them between processes. Each leaf stands in the module of its part; all are imported from
here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from greenroom.errors.archives import (
        ArchiveAbsent,
        ArchiveForeign,
        ArchiveRefused,
        PackRefused,
        PlaceFailed,
        PlaceRefused,
    )
    from greenroom.errors.builder import (
        BuildFailed,
        DiskFull,
        FetchFailed,
        HashMismatch,
        LateMissing,
        LockingFailed,
        NotCached,
        ProofRejected,
        SourceChanged,
        SourceMissing,
        UvKilled,
        WrongWheel,
    )
    from greenroom.errors.command import (
        CommandMissing,
        CommandNotFound,
        CommandNotStarted,
        DirectoryVanished,
        EnvFileInvalid,
        EnvironmentDamaged,
        EnvironmentMissing,
        LockOutdated,
        LogMissing,
        NoEnvironment,
        UnknownComponent,
        UnknownOption,
    )
    from greenroom.errors.declaration import (
        AmbiguousName,
        ConflictingKeys,
        DeclarationError,
        DeclarationExists,
        DeclarationNotFound,
        DeclarationNotWritten,
        DuplicateName,
        NotLiteral,
        RefusedValue,
        SecretInDeclaration,
        ServerDirectoryInvalid,
        ServiceInvalid,
        UnknownKey,
        UnknownName,
        UnreadableDeclaration,
        WrongType,
    )
    from greenroom.errors.images import (
        FileInTheWay,
        ImageNotComplete,
        ImageNotFrozen,
        OutsideContext,
        WrapperClash,
    )
    from greenroom.errors.locks import (
        AmbiguousLock,
        BuildNeedsRuntime,
        BuildOrderLoop,
        ExtraNotProvided,
        ExtrasConflict,
        HostVersionUnknown,
        LockMissing,
        LockNeedsPython,
        LockTooNew,
        LockUnreadable,
        MissingHash,
        NoMatchingFile,
        NotALockName,
        PlatformNotLocked,
        RequirementsUnreadable,
        SecretInSource,
        StaleLock,
        UnknownExtra,
        UnknownGroup,
        UnknownMember,
    )
    from greenroom.errors.ray import (
        EnvFileInRuntimeEnv,
        MinorMismatch,
        NodesNotReady,
        NotAnActor,
        PatchMismatch,
        ProvisionFailed,
        RayExtraMissing,
        RayMismatch,
        RayMissing,
        RayNotInstalled,
        RayNotRunning,
        RuntimeEnvConflict,
        UnknownActor,
        UnknownNode,
        UvRunHookActive,
    )
    from greenroom.errors.root import (
        FailedError,
        GreenroomError,
        InterruptedRunError,
        NotReadyError,
        Problems,
        UseError,
        nearest,
        use_one_of,
    )
    from greenroom.errors.servers import (
        CommandUnknown,
        NeedsCircle,
        NotRunning,
        OutsideRoots,
        PortTaken,
        ServersFailed,
        SupervisorLost,
        UnknownServer,
    )
    from greenroom.errors.store import (
        AliasRefused,
        ClashError,
        CompileFailed,
        CopyRefused,
        EnvironmentGone,
        EnvironmentInUse,
        LockBusy,
        LocksUnsupported,
        LogUnreadable,
        NoStoreWritable,
        ProofFailed,
        RecordUnreadable,
        StoreFailed,
        StorePathRefused,
    )
    from greenroom.errors.tools import (
        GroupEnded,
        ProgramNotStarted,
        PythonBroken,
        PythonNotFound,
        PythonTooOld,
        SettingsUnreadable,
        UvBroken,
        UvMissing,
        UvTooOld,
    )

__all__ = [
    "AliasRefused",
    "AmbiguousLock",
    "AmbiguousName",
    "ArchiveAbsent",
    "ArchiveForeign",
    "ArchiveRefused",
    "BuildFailed",
    "BuildNeedsRuntime",
    "BuildOrderLoop",
    "ClashError",
    "CommandMissing",
    "CommandNotFound",
    "CommandNotStarted",
    "CommandUnknown",
    "CompileFailed",
    "ConflictingKeys",
    "CopyRefused",
    "DeclarationError",
    "DeclarationExists",
    "DeclarationNotFound",
    "DeclarationNotWritten",
    "DirectoryVanished",
    "DiskFull",
    "DuplicateName",
    "EnvFileInRuntimeEnv",
    "EnvFileInvalid",
    "EnvironmentDamaged",
    "EnvironmentGone",
    "EnvironmentInUse",
    "EnvironmentMissing",
    "ExtraNotProvided",
    "ExtrasConflict",
    "FailedError",
    "FetchFailed",
    "FileInTheWay",
    "GreenroomError",
    "GroupEnded",
    "HashMismatch",
    "HostVersionUnknown",
    "ImageNotComplete",
    "ImageNotFrozen",
    "InterruptedRunError",
    "LateMissing",
    "LockBusy",
    "LockMissing",
    "LockNeedsPython",
    "LockOutdated",
    "LockTooNew",
    "LockUnreadable",
    "LockingFailed",
    "LocksUnsupported",
    "LogMissing",
    "LogUnreadable",
    "MinorMismatch",
    "MissingHash",
    "NeedsCircle",
    "NoEnvironment",
    "NoMatchingFile",
    "NoStoreWritable",
    "NodesNotReady",
    "NotALockName",
    "NotAnActor",
    "NotCached",
    "NotLiteral",
    "NotReadyError",
    "NotRunning",
    "OutsideContext",
    "OutsideRoots",
    "PackRefused",
    "PatchMismatch",
    "PlaceFailed",
    "PlaceRefused",
    "PlatformNotLocked",
    "PortTaken",
    "Problems",
    "ProgramNotStarted",
    "ProofFailed",
    "ProofRejected",
    "ProvisionFailed",
    "PythonBroken",
    "PythonNotFound",
    "PythonTooOld",
    "RayExtraMissing",
    "RayMismatch",
    "RayMissing",
    "RayNotInstalled",
    "RayNotRunning",
    "RecordUnreadable",
    "RefusedValue",
    "RequirementsUnreadable",
    "RuntimeEnvConflict",
    "SecretInDeclaration",
    "SecretInSource",
    "ServerDirectoryInvalid",
    "ServersFailed",
    "ServiceInvalid",
    "SettingsUnreadable",
    "SourceChanged",
    "SourceMissing",
    "StaleLock",
    "StoreFailed",
    "StorePathRefused",
    "SupervisorLost",
    "UnknownActor",
    "UnknownComponent",
    "UnknownExtra",
    "UnknownGroup",
    "UnknownKey",
    "UnknownMember",
    "UnknownName",
    "UnknownNode",
    "UnknownOption",
    "UnknownServer",
    "UnreadableDeclaration",
    "UseError",
    "UvBroken",
    "UvKilled",
    "UvMissing",
    "UvRunHookActive",
    "UvTooOld",
    "WrapperClash",
    "WrongType",
    "WrongWheel",
    "nearest",
    "use_one_of",
]

_PARTS = (
    *("root", "command", "declaration", "tools", "locks", "store", "builder", "archives", "images"),
    *("servers", "ray"),
)
"""The modules, those first whose errors a launch can meet."""


def __getattr__(name: str) -> object:
    """Import an error's module on first use: starting loads only what goes wrong.

    :raises AttributeError: there is no such error.
    """
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415 - only when a name is asked for

        for part in _PARTS:
            found = vars(import_module(f"greenroom.errors.{part}")).get(name)
            if found is not None:
                globals()[name] = found
                return found
    msg = f"module 'greenroom.errors' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """List the errors and nothing else."""
    return __all__
