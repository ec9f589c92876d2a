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
            "api/test_remembered.py::test_a_text_in_memory_needs_a_key_and_is_written_down",
            "api/test_keys.py::test_stored_keys_are_read_again_within_five_seconds",
            "api/test_auth.py::test_each_configured_key_is_let_in",
            "deployments/test_accounts.py::test_a_key_is_shown_once_and_listed_without_it",
        ),
        "**Rates.**": ("api/test_keys.py::test_calls_above_the_rate_are_told_when_to_come_again",),
        "**The record.**": ("api/test_keys.py::test_each_call_with_a_known_key_is_written_down_without_content",),
        "**The log.**": (
            "api/test_server.py::test_each_line_of_a_json_log_has_the_id_of_its_request_and_holds_nothing_else_of_it",
            "storage/test_logs.py::test_a_line_tells_of_an_exception_without_its_message",
            "storage/test_logs.py::test_an_id_that_is_none_is_replaced",
            "tasks/ai/openai/test_client.py::test_a_call_carries_the_id_of_the_request_that_it_is_made_for",
        ),
        "**Figures.**": (
            "api/test_monitoring.py::test_calls_are_counted_by_operation_and_outcome",
            "api/test_monitoring.py::test_tokens_and_cost_of_models_are_counted",
            "api/test_monitoring.py::test_where_there_are_keys_any_of_them_is_needed",
        ),
        "**Traces.**": (
            "api/test_server.py::test_a_span_tells_operation_status_and_id_alone",
            "api/test_server.py::test_without_the_extra_a_sentence_says_what_to_install",
        ),
        "**Slow clients.**": (
            "api/test_front.py::test_what_never_becomes_a_request_is_closed",
            "api/test_front.py::test_a_body_that_comes_drop_by_drop_is_closed_and_one_that_flows_is_read",
            "api/test_front.py::test_a_client_that_takes_no_answer_is_closed",
            "api/test_front.py::test_a_full_address_loses_its_oldest_idle_connection",
            "api/test_front.py::test_with_few_descriptors_others_are_served",
        ),
        "**Memory.**": (
            "api/test_front.py::test_large_bodies_take_their_turns_and_small_ones_pass",
            "api/test_front.py::test_bodies_of_middling_length_are_counted_too",
            "api/test_front.py::test_a_context_comes_back_as_it_was_sent_however_long_it_is",
            "api/test_front.py::test_a_long_body_of_very_many_values_is_refused",
            "tasks/language/test_sentences.py::test_a_long_text_is_read_a_stretch_at_a_time_and_gives_the_same",
        ),
        "**Clients that hang up.**": (
            "api/test_hang_up.py::test_documents_leave_the_readers_and_their_queue",
            "api/test_hang_up.py::test_a_model_is_not_asked_for_who_has_gone_and_what_it_was_asked_is_kept",
            "api/test_hang_up.py::test_memory_is_free_again_and_who_has_gone_waits_for_none",
        ),
        "**Processes.**": (
            "api/test_workers.py::test_two_workers_are_one_service",
            "api/test_workers.py::test_a_worker_that_hangs_is_replaced",
            "api/test_shutdown.py::test_new_connections_are_refused_while_a_model_is_waited_for",
            "api/test_shutdown.py::test_what_takes_too_long_is_cut_off",
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
            "deployments/test_backup.py::test_prefects_history_of_old_runs_goes_and_that_of_kept_ones_stays",
            "deployments/test_backup.py::test_the_embedded_server_keeps_nothing_of_old_runs_and_its_file_shrinks",
            "deployments/test_backup.py::test_a_server_of_the_users_that_is_away_keeps_its_history",
        ),
        "**Earlier releases.**": (
            "storage/test_migrations.py::test_a_database_of_each_schema_keeps_its_rows_when_it_is_opened",
            "storage/test_migrations.py::test_who_only_looks_changes_nothing_and_is_told_what_to_do",
        ),
    },
    "security.md": {
        "**Without keys**": (
            "api/test_server.py::test_without_keys_no_other_machine_is_served",
            "api/test_server.py::test_other_names_are_not_answered_without_keys",
            "api/test_auth.py::test_rebound_names_are_refused",
            "api/test_auth.py::test_pages_of_other_sites_are_refused",
        ),
        "**API keys**": (
            "api/test_keys.py::test_what_is_stored_opens_nothing",
            "api/test_keys.py::test_a_key_is_good_for_its_scopes_alone",
            "api/test_auth.py::test_without_a_right_key_nothing_is_answered",
        ),
        "**A revoked key**": (
            "api/test_keys.py::test_a_key_is_known_and_refused_while_the_service_runs",
            "api/test_remembered.py::test_a_text_in_memory_needs_a_key_and_is_written_down",
            "api/test_keys.py::test_stored_keys_are_read_again_within_five_seconds",
            "api/test_workers.py::test_two_workers_are_one_service",
        ),
        "**Guessing and flooding.**": ("api/test_keys.py::test_calls_above_the_rate_are_told_when_to_come_again",),
        "**Users of Google Drive**": (
            "api/users/test_login.py::test_login_asks_google_for_reading_alone_with_state_and_pkce",
            "api/users/test_login.py::test_the_cookies_are_out_of_reach_of_scripts_and_other_sites",
            "api/users/test_login.py::test_over_https_the_cookies_are_bound_to_the_host",
            "api/users/test_login.py::test_pages_of_other_sites_cannot_use_the_session",
            "api/users/test_login.py::test_a_forged_answer_is_refused",
        ),
        "**Logging out**": (
            "api/users/test_login.py::test_logging_out_ends_the_session_and_forgets_the_token",
            "api/users/test_login.py::test_a_revoked_login_is_401_until_the_user_logs_in_again",
        ),
        "**A user's own view.**": (
            "api/users/test_rights.py::test_what_one_user_had_read_is_unknown_to_the_other",
            "api/users/test_rights.py::test_lost_access_is_lost_for_stored_text_too",
            "api/users/test_google_drive.py::test_with_drive_out_of_reach_stored_text_is_not_given",
            "api/users/test_reports.py::test_rights_that_are_lost_later_close_the_pages",
        ),
        "**What rests on hidden documents**": (
            "api/users/test_hidden_words.py::test_no_word_of_a_hidden_document_is_shown",
            "api/users/test_hidden_words.py::test_what_rests_on_a_folder_that_is_not_shared_is_withheld",
            "api/users/test_reports.py::test_what_rests_on_a_document_that_is_not_shared_is_left_out",
            "tasks/scoring/test_score.py::test_each_outcome_keeps_which_documents_had_a_part_in_it",
            "tasks/reports/test_rights.py::test_of_hidden_documents_nothing_is_made",
        ),
        "**Nobody else's rights.**": (
            "api/users/test_google_drive.py::test_neither_the_service_account_nor_a_stored_login_answers_for_a_caller",
        ),
        "**The local drive**": (
            "tasks/documents/drive/local/test_bounds.py::test_a_forged_id_leads_nowhere",
            "tasks/documents/drive/local/test_bounds.py::test_a_link_that_leaves_the_root_is_left_out_with_a_warning",
            "tasks/documents/drive/local/test_bounds.py::test_a_folder_swapped_for_a_link_after_the_check_is_not_followed",
            "tasks/documents/drive/local/test_bounds.py::test_the_services_own_home_is_not_part_of_the_drive",
        ),
        "**A document as a file**": (
            "api/test_files.py::test_what_a_browser_could_run_is_saved_instead",
            "api/test_files.py::test_pdf_is_shown_but_may_run_nothing",
        ),
        "**The home and the database**": (
            "storage/test_database.py::test_the_home_is_made_for_its_owner_only",
            "storage/test_database.py::test_the_database_is_its_owners_whatever_the_mode_of_the_home",
        ),
        "**Refresh tokens**": (
            "api/users/test_login.py::test_the_refresh_token_rests_sealed",
            "storage/test_logins.py::test_a_session_is_found_by_its_secret_and_the_table_does_not_hold_it",
        ),
        "**No token, key or cookie**": (
            "tasks/documents/drive/google/test_no_leak.py::test_no_token_is_in_the_clear_anywhere",
        ),
        "**The log**": (
            "api/test_server.py::test_each_line_of_a_json_log_has_the_id_of_its_request_and_holds_nothing_else_of_it",
            "storage/test_logs.py::test_a_line_tells_of_an_exception_without_its_message",
        ),
        "**The record of calls**": (
            "api/test_keys.py::test_each_call_with_a_known_key_is_written_down_without_content",
        ),
        "**Batch files**": ("flows/test_batch_file.py::test_a_mistake_names_line_and_field_and_what_is_allowed",),
        "**A backup**": (
            "storage/test_backup.py::test_only_its_owner_reads_it_and_the_next_takes_its_place",
            "storage/test_backup.py::test_every_row_and_the_key_come_back",
        ),
        "**The server of a run**": (
            "flows/test_prefect_server.py::test_a_stranger_gets_no_answer_whatever_the_path",
            "flows/test_prefect_server.py::test_a_stranger_opens_no_websocket",
            "flows/test_prefect_server.py::test_it_listens_on_this_machine_alone",
        ),
        "**What Prefect keeps**": ("flows/test_flows.py::test_prefect_keeps_no_text_of_a_document",),
        "**What it shows**": ("flows/test_artifacts.py::test_text_from_elsewhere_is_shown_and_does_nothing",),
        "**Its settings**": ("deployments/test_environment.py::test_prefect_reads_no_settings_of_the_current_folder",),
        "**Reading**": (
            "tasks/reading/pool/test_pool.py::test_a_document_that_hangs_is_given_up",
            "tasks/reading/pool/test_pool.py::test_a_document_that_crashes_its_reader_fails_alone",
            "tasks/reading/pool/test_pool.py::test_a_document_that_swells_meets_the_limit",
            "tasks/reading/pool/test_pool.py::test_a_file_above_the_limit_is_not_opened",
        ),
        "**No code but what is installed**": (
            "deployments/test_current_folder.py::test_text_and_figures_run_no_module_of_the_current_folder",
            "deployments/test_current_folder.py::test_check_and_a_batch_run_no_module_and_no_settings_of_the_current_folder",
        ),
        "**After a kill**": (
            "deployments/test_current_folder.py::test_what_a_killed_command_leaves_goes_at_the_next_start",
            "deployments/test_current_folder.py::test_the_folder_of_a_running_process_stays",
        ),
        "**Figures**": (
            "deployments/test_rooms.py::test_a_document_that_takes_too_long_has_no_figures_and_is_named",
            "tasks/figures/test_linear_time.py::test_finding_figures_takes_time_in_proportion_to_the_text",
        ),
        "**Nothing outside is fetched**": (
            "tasks/reading/test_hostile.py::test_relationships_lead_nowhere_outside",
            "tasks/reading/test_hostile.py::test_entities_are_neither_expanded_nor_fetched",
            "tasks/reading/test_hostile.py::test_a_pdf_reaches_nothing_outside",
        ),
        "**Bombs**": (
            "tasks/reading/test_hostile.py::test_parts_that_inflate_without_end_are_refused",
            "tasks/reading/test_hostile.py::test_pdf_streams_that_inflate_without_end_stay_within_the_limits",
            "tasks/reading/test_hostile.py::test_circles_end",
            "tasks/reading/test_hostile.py::test_depths_end",
        ),
        "**Long and odd texts**": (
            "linear_time/test_linear_time.py::test_every_function_that_takes_a_text_is_measured_or_excused",
            "linear_time/test_linear_time.py::test_some_shapes_take_time_in_proportion_to_their_length",
            "linear_time/test_linear_time.py::test_patterns_take_time_in_proportion_to_the_text",
        ),
        "**Archives**": (
            "tasks/documents/drive/archives/test_archive.py::test_a_bomb_is_left_out_by_its_ratio",
            "tasks/documents/drive/archives/test_archive.py::test_all_members_together_have_a_limit",
            "tasks/documents/drive/archives/test_drive.py::test_an_archive_above_the_limit_stays_shut",
        ),
        "**Old Office files**": (
            "tasks/reading/legacy/test_libreoffice.py::test_it_gets_a_profile_without_macros_links_and_network",
        ),
        "**Text is data.**": (
            "api/test_runs.py::test_names_and_words_are_no_markup",
            "deployments/test_command_line.py::test_a_failed_company_is_exit_status_1_with_the_report_written",
            "flows/test_artifacts.py::test_text_from_elsewhere_is_shown_and_does_nothing",
            "deployments/test_environment.py::test_hostile_names_reach_no_output_raw",
        ),
        "**Half-written files**": ("deployments/test_environment.py::test_a_half_written_file_follows_no_link",),
        "**Prompts**": ("tasks/ai/test_prompts.py::test_a_text_cannot_close_its_own_fence",),
        "**Orders to a model**": (
            "tasks/scoring/test_isolation.py::test_planted_words_move_no_score_and_hide_no_claim",
            "tasks/scoring/test_isolation.py::test_a_score_that_hides_what_speaks_against_it_is_contested_and_the_lower_counts",
            "tasks/scoring/test_orders.py::test_bad_news_beside_an_order_reaches_the_judge_and_counts",
            "tasks/scoring/test_orders.py::test_what_is_safe_to_count_counts",
            "tasks/scoring/test_orders.py::test_a_contested_score_is_stored_with_the_place_of_the_words",
        ),
        "**A quotation counts**": (
            "tasks/language/test_quotations.py::test_any_quote_and_any_text_give_a_span_of_the_text_or_none",
        ),
        "**Addresses**": (
            "tasks/companies/test_walls.py::test_a_refresh_leads_no_further_than_a_redirect",
            "tasks/companies/web/test_fetch.py::test_a_page_on_this_machine_is_not_fetched",
            "tasks/companies/web/test_fetch.py::test_a_name_with_one_private_address_among_public_ones_is_refused",
            "tasks/companies/web/test_fetch.py::test_a_name_that_changes_its_address_after_the_check_is_connected_to_as_checked",
            "tasks/companies/web/test_fetch.py::test_a_redirect_to_where_nothing_is_fetched_from_is_not_followed",
            "tasks/companies/web/test_addresses.py::test_an_address_that_the_internet_does_not_reach_is_not_public",
            "tasks/companies/web/test_addresses.py::test_what_a_setting_names_may_be_private",
        ),
        "**Answers**": (
            "tasks/companies/web/test_fetch.py::test_a_body_beyond_the_limit_ends_there",
            "tasks/companies/web/test_fetch.py::test_a_bomb_within_a_bomb_and_what_was_not_asked_for_are_not_unpacked",
            "tasks/companies/web/test_fetch.py::test_a_server_that_takes_for_ever_is_left_when_the_time_is_up",
            "tasks/companies/web/test_fetch.py::test_the_keys_of_a_request_do_not_follow_a_redirect_to_another_server",
        ),
        "**TLS**": (
            "tasks/companies/web/test_fetch.py::test_a_certificate_that_no_public_authority_gave_is_not_trusted",
            "tasks/companies/web/test_fetch.py::test_proxies_of_the_environment_and_cookies_are_left_alone",
        ),
        "**The model's and Google's clients**": (
            "deployments/test_environment.py::test_a_variable_that_cannot_be_used_is_named",
            "deployments/test_environment.py::test_prefect_gets_an_environment_that_it_can_use",
        ),
        "**A body**": (
            "api/test_problems.py::test_a_compressed_body_is_refused_and_told_why",
            "api/test_problems.py::test_body_that_is_no_json_object_is_refused",
            "api/test_problems.py::test_body_above_the_limit",
            "api/test_front.py::test_a_head_without_end_is_refused",
        ),
        "**Heads**": (
            "api/test_heads.py::test_what_could_be_read_in_two_ways_is_refused",
            "api/test_heads.py::test_what_the_head_says_counts",
        ),
        "**One caller silences nobody.**": (
            "api/test_silence.py::test_nothing_heavy_silences_the_service",
            "tasks/test_offload.py::test_work_ends_with_its_caller",
            "tasks/test_offload.py::test_limits_and_errors",
        ),
        "**Slow and many clients**": (
            "api/test_front.py::test_what_never_becomes_a_request_is_closed",
            "api/test_front.py::test_a_full_address_loses_its_oldest_idle_connection",
            "api/test_front.py::test_large_bodies_take_their_turns_and_small_ones_pass",
        ),
        "**Every failure**": ("api/test_problems.py::test_a_mistake_of_ours_gives_nothing_away",),
        "**Every answer**": ("api/test_problems.py::test_every_answer_carries_the_security_headers",),
        "**What it accepts**": ("api/test_requests.py::test_whatever_is_sent_is_answered_as_the_schema_says",),
        "**Parts**": (
            "test_supply.py::test_the_list_of_parts_names_what_the_wheel_needs_and_is_the_same_each_time",
            "test_supply.py::test_the_wheel_holds_the_list_of_its_parts",
        ),
        "**Licences**": (
            "test_supply.py::test_a_licence_that_is_not_allowed_fails_the_check",
            "test_supply.py::test_every_licence_of_the_locks_is_allowed",
        ),
        "**Without a network**": ("test_supply.py::test_without_any_route_everything_works_and_no_name_is_looked_up",),
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
