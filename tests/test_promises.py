"""Every promise of the chapters for operators names the test that holds it; the tests named are there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"

# How a promise of the chapter begins -> the tests that hold it.
PROMISES: dict[str, dict[str, tuple[str, ...]]] = {
    "running-for-a-team.md": {
        "**Keys.**": (
            "api/test_keys.py::test_a_key_is_good_for_its_scopes_alone",
            "api/test_keys.py::test_a_key_is_known_and_refused_while_the_service_runs",
            "api/test_keys.py::test_stored_keys_are_read_again_within_five_seconds",
            "api/test_auth.py::test_each_configured_key_is_let_in",
            "deployments/test_keys.py::test_a_key_is_shown_once_and_listed_without_it",
        ),
        "**Rates.**": ("api/test_keys.py::test_calls_above_the_rate_are_told_when_to_come_again",),
        "**The record.**": ("api/test_keys.py::test_each_call_with_a_known_key_is_written_down_without_content",),
        "**The log.**": (
            "api/test_server.py::test_each_line_of_a_json_log_has_the_id_of_its_request",
            "storage/test_logs.py::test_a_line_tells_of_an_exception_without_its_message",
            "storage/test_logs.py::test_an_id_that_is_none_is_replaced",
            "tasks/ai/openai/test_client.py::test_a_call_carries_the_id_of_the_request_that_it_is_made_for",
        ),
        "**Figures.**": (
            "api/test_metrics.py::test_calls_are_counted_by_operation_and_outcome",
            "api/test_metrics.py::test_tokens_and_cost_of_models_are_counted",
            "api/test_metrics.py::test_where_there_are_keys_any_of_them_is_needed",
        ),
        "**Traces.**": (
            "api/test_tracing.py::test_a_span_tells_operation_status_and_id_alone",
            "api/test_tracing.py::test_without_the_extra_a_sentence_says_what_to_install",
        ),
        "**Slow clients.**": (
            "api/test_connections.py::test_what_never_becomes_a_request_is_closed",
            "api/test_connections.py::test_a_body_that_comes_drop_by_drop_is_closed_and_one_that_flows_is_read",
            "api/test_connections.py::test_a_client_that_takes_no_answer_is_closed",
            "api/test_connections.py::test_a_full_address_loses_its_oldest_idle_connection",
            "api/test_connections.py::test_with_few_descriptors_others_are_served",
        ),
        "**Memory.**": (
            "api/test_admission.py::test_large_bodies_take_their_turns_and_small_ones_pass",
            "api/test_admission.py::test_bodies_of_middling_length_are_counted_too",
            "api/test_admission.py::test_a_context_comes_back_as_it_was_sent_however_long_it_is",
            "api/test_admission.py::test_a_long_body_of_very_many_values_is_refused",
            "tasks/text/test_sentences.py::test_a_long_text_is_read_a_stretch_at_a_time_and_gives_the_same",
        ),
        "**Clients that hang up.**": (
            "api/test_hang_up.py::test_documents_leave_the_readers_and_their_queue",
            "api/test_hang_up.py::test_a_model_is_not_asked_for_who_has_gone_and_what_it_was_asked_is_kept",
            "api/test_hang_up.py::test_memory_is_free_again_and_who_has_gone_waits_for_none",
        ),
        "**Processes.**": (
            "api/test_workers.py::test_two_workers_are_one_service",
            "api/test_workers.py::test_workers_end_when_who_looks_after_them_is_killed",
            "api/test_workers.py::test_a_call_is_counted_with_those_of_other_processes",
        ),
        "**A backup**": (
            "storage/test_backup.py::test_every_row_and_the_key_come_back",
            "storage/test_backup.py::test_only_its_owner_reads_it_and_the_next_takes_its_place",
            "storage/test_backup.py::test_a_backup_is_of_one_moment_while_a_run_writes",
            "storage/test_backup.py::test_a_kill_at_any_moment_leaves_a_whole_state",
            "deployments/test_backup.py::test_a_key_of_the_environment_is_not_in_it_and_it_says_so",
        ),
        "**Both databases.**": ("storage/test_backup.py::test_a_home_moves_from_sqlite_to_postgresql",),
        "**Restoring**": (
            "storage/test_backup.py::test_what_is_no_whole_backup_changes_nothing",
            "storage/test_backup.py::test_a_backup_of_an_earlier_schema_is_brought_to_the_newest",
            "storage/test_backup.py::test_a_home_in_use_is_not_replaced",
            "deployments/test_backup.py::test_what_is_no_backup_is_wrong_use",
        ),
        "**A home that has something**": (
            "storage/test_backup.py::test_a_home_that_has_something_is_kept_aside_or_left_alone",
            "storage/test_backup.py::test_a_kill_at_any_moment_leaves_a_whole_state",
        ),
        "**Pruning**": (
            "storage/test_pruning.py::test_the_newest_runs_stay_with_all_that_they_need",
            "storage/test_pruning.py::test_the_newest_run_of_each_batch_stays",
            "storage/test_pruning.py::test_a_run_that_can_go_on_stays_and_one_that_was_superseded_goes",
            "storage/test_pruning.py::test_a_text_stays_while_an_indexed_folder_has_its_document",
            "storage/test_pruning.py::test_an_answer_that_a_kept_run_may_have_used_is_not_paid_for_again",
        ),
        "**The record of calls**": (
            "storage/test_pruning.py::test_the_record_of_calls_is_kept_for_as_long_as_it_is_wanted",
        ),
        "**Beside a service.**": (
            "storage/test_pruning.py::test_room_is_given_back_to_the_disk_while_others_have_it_open",
            "storage/test_pruning.py::test_in_postgresql_later_rows_take_the_room",
            "storage/test_pruning.py::test_a_database_of_an_earlier_release_gives_its_room_back_too",
            "storage/test_backup.py::test_a_kill_at_any_moment_leaves_a_whole_state",
        ),
        "**Prefect's history**": (
            "deployments/test_prune.py::test_prefects_history_of_old_runs_goes_and_that_of_kept_ones_stays",
            "deployments/test_prune.py::test_the_embedded_server_keeps_nothing_of_old_runs_and_its_file_shrinks",
            "deployments/test_prune.py::test_the_history_of_a_server_of_the_users_stays",
        ),
        "**Earlier releases.**": (
            "storage/test_migrations.py::test_a_database_of_each_schema_keeps_its_rows_when_it_is_opened",
        ),
    },
    "security.md": {
        "Without keys": (
            "api/test_server.py::test_without_keys_no_other_machine_is_served",
            "api/test_server.py::test_other_names_are_not_answered_without_keys",
        ),
        "Keys are random": ("api/test_keys.py::test_what_is_stored_opens_nothing",),
        "The record of calls and the log": (
            "api/test_keys.py::test_each_call_with_a_known_key_is_written_down_without_content",
            "api/test_server.py::test_the_log_holds_nothing_of_the_requests",
        ),
        "The database is its owner's": (
            "storage/test_database.py::test_the_database_is_its_owners_whatever_the_mode_of_the_home",
            "tasks/documents/drive/local/test_bounds.py::test_the_services_own_home_is_not_part_of_the_drive",
        ),
        "A body is JSON": (
            "api/test_problems.py::test_a_compressed_body_is_refused_and_told_why",
            "api/test_problems.py::test_body_that_is_no_json_object_is_refused",
            "api/test_problems.py::test_body_above_the_limit",
            "api/test_connections.py::test_a_head_without_end_is_refused",
        ),
        "Every failure": ("api/test_problems.py::test_a_mistake_of_ours_gives_nothing_away",),
        "Every answer": ("api/test_problems.py::test_every_answer_carries_the_security_headers",),
    },
}


@pytest.mark.parametrize("chapter", PROMISES)
def test_every_promise_of_a_chapter_names_its_tests(chapter: str) -> None:
    promises = re.findall(r"^- (.+)$", (DOCS / chapter).read_text(), re.MULTILINE)
    assert len(promises) == len(PROMISES[chapter])
    for promise, beginning in zip(promises, PROMISES[chapter], strict=True):
        assert promise.startswith(beginning)


def test_the_tests_that_hold_promises_are_there() -> None:
    for promises in PROMISES.values():
        for tests in promises.values():
            for named in tests:
                file, _, name = named.partition("::")
                assert re.search(rf"^def {name}\(", (TESTS / file).read_text(), re.MULTILINE), named
