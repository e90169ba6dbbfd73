"""lm-evaluation-harness on the questions; dialogues are beyond it.

Run in an environment of its own: lm_eval_.py URL questions
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import work
from measure import measured


def main(url: str, which: str) -> None:
    os.environ.update(
        OPENAI_API_KEY="none", HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false"
    )
    assert which == "questions"
    import json

    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    with tempfile.TemporaryDirectory() as folder:
        items = [work.question(number) for number in range(work.QUESTIONS)]
        rows = [{"prompt": work.prompt(item), "letter": work.LETTERS[item["answer"]]} for item in items]
        data = Path(folder) / "items.jsonl"
        data.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        os.environ["HF_DATASETS_CACHE"] = folder
        config = {
            "task": "bench_questions",
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(data)}},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{prompt}}",
            "doc_to_target": "{{letter}}",
            "generation_kwargs": {"until": ["\n\n"], "do_sample": False, "temperature": 0, "max_gen_toks": 200},
            "filter_list": [
                {
                    "name": "letter",
                    "filter": [{"function": "regex", "regex_pattern": "([A-D])$"}, {"function": "take_first"}],
                }
            ],
            "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        }
        arguments = (
            f"model={work.MODEL},base_url={url}/chat/completions,num_concurrent={work.QUESTIONS_IN_FLIGHT},"
            "max_retries=3,tokenized_requests=False,tokenizer_backend=None"
        )
        manager = TaskManager()
        with measured(work.QUESTIONS) as told:
            results = simple_evaluate(
                model="local-chat-completions",
                model_args=arguments,
                tasks=[config],
                apply_chat_template=True,
                task_manager=manager,
                bootstrap_iters=0,
            )
            told["right"] = round(results["results"]["bench_questions"]["exact_match,letter"] * work.QUESTIONS)


if __name__ == "__main__":
    main(*sys.argv[1:3])
