# SPDX-License-Identifier: BSD-2-Clause
"""Plans, their images and the files of them, beside what the command prints and writes."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import pyoffpeak as opk
from common import is_13_0, offpeak, printed, recording, source

SETS = ["roofline", "dram__bytes.sum"]


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Plans(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = lambda name: os.path.join(folder.name, name)

    def test_same_as_command(self):
        plan = opk.plan("h100", SETS, effort=0)
        wanted = printed("plan", "--chip", "GH100", *SETS, "--effort", "0")
        self.assertEqual([plan.chip, plan.profiler, plan.set], [wanted[key] for key in ("chip", "profiler", "set")])
        self.assertEqual([plan.passes, plan.lower_bound], [wanted["passes"], wanted["lower_bound"]])
        self.assertEqual(plan.metrics, wanted["metrics"])
        for one, row in zip(plan.detail.passes, wanted["plan"]):
            domains = [f"{name}:{count}" for name, count in one.domains.items()]
            self.assertEqual(
                [one.number, one.counters, domains, one.launch_us, one.replay_us, list(one.metrics)],
                [row[key] for key in ("pass", "counters", "domains", "launch_us", "replay_us", "metrics")],
            )
        self.assertEqual(
            [(list(one.names), one.counters, one.passes, one.lower_bound, one.fullest) for one in plan.detail.domains],
            [tuple(row.values()) for row in wanted["domains"]],
        )
        self.assertEqual([one.name for one in plan.columns], [row["column"] for row in wanted.get("columns", [])])

    def test_images_are_those_of_build(self):
        plan = opk.plan("GH100", SETS, effort=0)
        for instances, option in (("needed", []), ("none", ["--no-instances"]), ("all", ["--instances"])):
            with self.subTest(instances):
                raw = ["--raw-config", self.path("config"), "--raw-prefix", self.path("prefix")]
                command = [offpeak, "build", "--chip", "GH100", *SETS, "--effort", "0", "-o", self.path("command.opk")]
                subprocess.run([*command, *raw, *option], check=True, capture_output=True)
                plan.save(self.path("python.opk"), instances=instances)
                self.assertEqual(plan.config_image, read(self.path("config")))
                self.assertEqual(plan.make_prefix(instances), read(self.path("prefix")))
                self.assertEqual(read(self.path("python.opk")), read(self.path("command.opk")))
        self.assertEqual(plan.prefix, plan.make_prefix("needed"))

    def test_both_plans_are_those_of_build(self):
        command = [offpeak, "build", "--chip", "GH100", "compute", "-o", self.path("command.opk"), "--format", "json"]
        built = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        opk.plan("GH100", "compute", prefer="both").save(self.path("python.opk"))
        self.assertEqual(read(self.path("python.opk")), read(self.path("command.opk")))
        info = opk.open(self.path("python.opk")).info
        self.assertEqual([info.passes, info.rotation_passes], [built["passes"], built["rotation_passes"]])
        self.assertIn("ROTA", [section.type for section in info.sections])

    def test_single_pass(self):
        arguments = ["--chip", "GH100", "--single-pass", "--effort", "0"]
        plan = opk.plan("GH100", "memory", single_pass=True, effort=0)
        wanted = printed("plan", "memory", *arguments)
        self.assertEqual([plan.passes, len(plan.metrics), len(plan.left_out)], [1, wanted["fit"], len(wanted["left_out"])])
        self.assertEqual(
            [[one.metric, one.would_fit, list(one.full_domains)] for one in plan.left_out],
            [list(row.values()) for row in wanted["left_out"]],
        )
        named = opk.plan("GH100", "single-pass:TriageCompute")
        self.assertEqual([named.profiler, named.passes, len(named.metrics)], ["pm", 1, 114 if is_13_0 else len(named.metrics)])
        self.assertGreater(named.sample_bytes, 0)
        with self.assertRaisesRegex(opk.UsageError, "TriageCompute.* depends on the chip: single_pass_sets"):
            opk.Set("single-pass:TriageCompute").metrics

    def test_split(self):
        split = opk.split_plan("GH100", SETS, max_passes=1, effort=0)
        whole = opk.plan("GH100", SETS, effort=0)
        self.assertEqual({one.passes for one in split}, {1})
        self.assertEqual(sorted(name for one in split for name in one.metrics), sorted(whole.metrics))
        self.assertGreater(len(split[0].prefix), 0)

    def test_config_info(self):
        plan = opk.plan("GH100", SETS, effort=0)
        info = opk.config_info(plan.config_image)
        self.assertEqual([info.chip, info.passes], ["GH100", plan.passes])
        self.assertEqual(list(info.counters), [one.counters for one in plan.detail.passes])
        with self.assertRaises(opk.InputError):
            opk.config_info(b"no image")
        for bad in ("set.config", 5):
            with self.assertRaisesRegex(TypeError, "an image is bytes, or another buffer, not "):
                opk.config_info(bad)

    def test_availability(self):
        path = os.path.join(source, "data", "recordings", "gh100-roofline.opk")
        bare = opk.plan("GH100", SETS, effort=0)
        with_image = opk.plan("GH100", SETS, effort=0, availability=path)
        self.assertEqual(with_image.metrics, bare.metrics)
        with self.assertRaises(opk.InputError):
            opk.plan("GH100", SETS, availability=b"no image")

    def test_errors(self):
        for arguments, options, error in (
            (("GH999", SETS), {}, opk.UsageError),
            (("GH100", "rofline"), {}, opk.UsageError),
            (("GH100", "dram__byte.sum"), {}, opk.UsageError),
            (("GH100", []), {}, opk.UsageError),
            (("GH100", SETS), {"max_passes": 1}, opk.EvaluationError),
            (("GH100", SETS), {"profiler": "both"}, ValueError),
            (("GH100", SETS), {"effort": -1}, ValueError),
            (("GH100", SETS), {"prefer": "dear"}, ValueError),
            (("GH100", SETS), {"strict_order": True}, ValueError),
            (("GH100", 7), {}, TypeError),
        ):
            with self.subTest(arguments=arguments, options=options), self.assertRaises(error):
                opk.plan(*arguments, **options)
        plan = opk.plan("GH100", "dram__bytes.sum")
        with self.assertRaises(opk.EvaluationError):
            plan.save("/nonexistent/set.opk")
        for kept, message in (("run.opk", "is a recording: it is not replaced"), ("notes.dat", "is not an .opk file")):
            shutil.copy(recording("simple") if kept == "run.opk" else __file__, self.path(kept))
            before = read(self.path(kept))
            with self.assertRaisesRegex(opk.UsageError, message):
                plan.save(self.path(kept))
            self.assertEqual(read(self.path(kept)), before)


class Sets(unittest.TestCase):
    def test_forms(self):
        metrics = ["dram__bytes.sum", "lts__t_bytes.sum"]
        text = "name: mine\nmetrics:\n  - dram__bytes.sum\n  - lts__t_bytes.sum\n"
        wanted = opk.plan("GH100", ",".join(metrics)).config_image
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.yaml")
            with open(path, "w") as file:
                file.write(text)
            forms = [metrics, text, {"metrics": metrics}, path, opk.Set(text), [opk.Set(metrics[:1]), metrics[1]]]
            for form in forms:
                self.assertEqual(opk.plan("GH100", form).config_image, wanted, form)
        self.assertEqual(opk.Set({"name": "a", "metrics": metrics}).name, "a")
        self.assertEqual(opk.Set.from_yaml(text).metrics, tuple(metrics))

    def test_parameters(self):
        text = "name: mine\nparameters: {op: read}\nmetrics: ['lts__t_sectors_op_${op}.sum']\n"
        made = opk.Set.from_yaml(text)
        self.assertEqual(opk.plan("GH100", made).metrics, ["lts__t_sectors_op_read.sum"])
        self.assertEqual(opk.plan("GH100", made.with_parameters(op="write")).metrics, ["lts__t_sectors_op_write.sum"])
        self.assertEqual(opk.plan("GH100", made, parameters={"op": "write"}).metrics, ["lts__t_sectors_op_write.sum"])
        with self.assertRaises(opk.UsageError):
            made.with_parameters(po="write")

    def test_errors_have_places(self):
        with self.assertRaises(opk.InputError) as caught:
            opk.Set.from_yaml("name: mine\nmetrcs: []\n", name="cell 7")
        self.assertIn("cell 7:2:1: unknown key 'metrcs', did you mean metrics?", str(caught.exception))
        with self.assertRaises(opk.InputError) as caught:
            opk.Set({"metrics": ["dram__bytes.sum"], "include": ["./other.yaml"]})
        self.assertIn("is relative to a file", str(caught.exception))
        with self.assertRaises(ValueError):
            opk.Set({"metrics": ["dram__bytes.sum"], "constants": {"a": float("nan")}})

    def test_check(self):
        good = opk.check_set("memory", ["GH100", "h100"], effort=0)
        row = printed("sets", "--check", "memory", "--chip", "GH100", "--effort", "0")[0]
        self.assertEqual(good.chips[0]._asdict(), row)
        self.assertTrue(good.ok)
        text = "name: mine\nmetrics:\n  - dram__bytes.sum\n  - dram__byte.sum\n"
        bad = opk.check_set(text, ["GH100", "GA100"], effort=0)
        self.assertEqual([(one.file, one.line, one.column) for one in bad.errors], [("<text>", 4, 5)])
        self.assertFalse(bad.ok or any(one.passes for one in bad.chips))
        partly = opk.check_set("name: mine\nmetrcs: []\n" + text[11:], "GH100", effort=0)
        self.assertEqual([one.line for one in partly.errors], [2, 5])
        with self.assertRaisesRegex(opk.InputError, "<text>:1:1: the key 'name' is missing"):
            opk.Set("metrics: [dram__bytes.sum]")
        for names in ("dram__bytes.smu", ["roofline", "dram__bytes.smu"]):
            with self.assertRaisesRegex(opk.UsageError, "no rollup or submetric 'smu'"):
                opk.plan("GH100", names, effort=0)
        self.assertEqual([(one.chip, one.passes) for one in partly.chips], [("GH100", None)])
        self.assertIn("GH100 has no metric", partly.chips[0].status)

    def test_list(self):
        wanted = printed("sets")
        found = opk.sets()
        self.assertEqual(
            [[one.name, one.profiler, len(one.metrics), one.description, one.version] for one in found],
            [[row[key] for key in ("set", "profiler", "metrics", "description", "version")] for row in wanted],
        )
        self.assertEqual(opk.Set("roofline").path, next(one.path for one in found if one.name == "roofline"))
