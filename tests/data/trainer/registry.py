"""The same table as Python: it is read, never executed."""

import a_module_that_does_not_exist

EXTRA = ["vllm"]
ACTOR_ENVIRONMENTS: dict[str, list[str] | None] = {
    "trainer.generation.vllm.worker.GenerationWorker": ["vllm", "gym_env"],
    "trainer.generation.vllm.worker_async.AsyncGenerationWorker": ["vllm", "gym_env"],
    "trainer.generation.sglang.worker.GenerationWorker": ["sglang"],
    "trainer.generation.dynamo.worker.DynamoWorker": None,
    "trainer.policy.auto.worker.PolicyWorker": ["auto"],
    "trainer.value.auto.worker.ValueWorker": ["auto"],
    "trainer.policy.mcore.worker.PolicyWorker": ["mcore", "gym_env"],
    "trainer.value.mcore.worker.ValueWorker": ["mcore"],
    "trainer.data.energy.SftWorker": ["gym_env", "mcore"],
    "trainer.generation.trtllm.worker.GenerationWorker": ["trtllm"],
    "trainer.environments.math.Math": None,
    "trainer.environments.math.MultiReward": None,
    "trainer.environments.vision.Vision": None,
    "trainer.environments.code.Code": None,
    "trainer.environments.reward.Reward": None,
    "trainer.environments.jaccard.Jaccard": None,
    "trainer.environments.games.Puzzle": None,
    "trainer.algorithms.collect.Collector": ["vllm"],
    "trainer.algorithms.replay.Buffer": ["vllm"],
    "trainer.rollout.sync.Actor": ["vllm"],
    "trainer.rollout.reassemble.Actor": ["gym_env"],
    "trainer.data.storage.Unit": None,
    "trainer.environments.retriever.Retriever": None,
    "trainer.environments.gym.Gym": ["gym_env"],
    "trainer.quant.vllm.worker.Worker": ["quant", "vllm"],
    "trainer.quant.vllm.worker.AsyncWorker": ["quant", "vllm"],
    "trainer.quant.auto.worker.Worker": ["quant", "auto"],
    "trainer.quant.mcore.worker.Worker": ["quant", "mcore"],
}

REGISTRY = {name: a_module_that_does_not_exist.command(extras) for name, extras in ACTOR_ENVIRONMENTS.items()}
raise SystemExit("executed")
