"""Every source of an environment as locked data: uv.lock, pylock.toml, ``greenroom.lock/``."""
