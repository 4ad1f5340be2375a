-- Every figure of a run, from its tables session_arms, calls and searches alone: measure, arm, class, pool_bin, value, n.
-- A weight for what goes into the cache is not seen: the tables do not tell how much that is.
WITH
issued AS (
  SELECT session_id, arm, count(*) FILTER (issued) AS searches FROM searches GROUP BY ALL
),
played AS (
  SELECT s.*,
    s.weight_fresh * (s.prompt_tokens - s.cached_tokens) + s.weight_cached * s.cached_tokens + s.weight_output * s.output_tokens AS weighed,
    coalesce(i.searches, 0) AS searches, gateway <> 'off' OR calls_taken_ms > 0 AS watched
  FROM session_arms s LEFT JOIN issued i USING (session_id, arm)
),
paired AS (
  SELECT a.*, e.weighed - a.weighed AS saved, e.prompt_tokens - a.prompt_tokens AS saved_prompt
  FROM played a LEFT JOIN played e ON e.session_id = a.session_id AND e.arm = 'eager' AND a.arm <> 'eager'
),
-- A value for each session that belongs to the measure's population; NULL for one that does not.
of_sessions AS (
  SELECT arm, unnest([
    {m: 'surface_tokens', v: surface_tokens::DOUBLE},
    {m: 'eager_tokens', v: eager_tokens},
    {m: 'saved_tokens', v: eager_tokens - surface_tokens},
    {m: 'saved_pct', v: CASE WHEN eager_tokens > 0 THEN 100.0 * (eager_tokens - surface_tokens) / eager_tokens END},
    {m: 'over_context', v: CASE WHEN context_length_tokens > 0 THEN (surface_tokens > context_length_tokens)::INT END},
    {m: 'visible_tokens', v: visible_tokens},
    {m: 'bridge_tokens', v: bridge_tokens},
    {m: 'listing_tokens', v: listing_tokens},
    {m: 'requests', v: requests},
    {m: 'prompt_tokens', v: prompt_tokens},
    {m: 'described_tokens', v: described_tokens},
    {m: 'output_tokens', v: output_tokens},
    {m: 'effective_tokens', v: weighed},
    {m: 'net_saved', v: saved},
    {m: 'net_saved_prompt_tokens', v: saved_prompt},
    {m: 'cached_tokens', v: cached_tokens},
    {m: 'cached_share', v: CASE WHEN prompt_tokens > 0 THEN cached_tokens / prompt_tokens END},
    {m: 'invalidations', v: invalidations},
    {m: 'cache_lost_tokens', v: cache_lost_tokens},
    {m: 'searches', v: searches},
    {m: 'wrong_calls', v: wrong_calls},
    {m: 'dispatched_calls', v: CASE WHEN watched THEN dispatched_calls END},
    {m: 'call_attempts', v: CASE WHEN watched THEN call_attempts END},
    {m: 'call_retries', v: CASE WHEN watched THEN call_retries END},
    {m: 'call_timeouts', v: CASE WHEN watched THEN call_timeouts END},
    {m: 'breaker_openings', v: CASE WHEN watched THEN breaker_openings END},
    {m: 'throttled_calls', v: CASE WHEN watched THEN throttled_calls END},
    {m: 'call_cache_hits', v: CASE WHEN watched THEN call_cache_hits END},
    {m: 'truncated_tokens', v: CASE WHEN watched THEN truncated_tokens END},
    {m: 'denied_visibility', v: CASE WHEN watched THEN denied_visibility END},
    {m: 'denied_surface', v: CASE WHEN watched THEN denied_surface END},
    {m: 'denied_system', v: CASE WHEN watched THEN denied_system END},
    {m: 'denied_admin', v: CASE WHEN watched THEN denied_admin END},
    {m: 'denied_session', v: CASE WHEN watched THEN denied_session END},
    {m: 'denied_scope', v: CASE WHEN watched THEN denied_scope END},
    {m: 'denied_confirm', v: CASE WHEN watched THEN denied_confirm END},
    {m: 'calls_taken_ms', v: CASE WHEN watched THEN calls_taken_ms END},
    {m: 'parallel_speedup', v: CASE WHEN calls_taken_ms > 0 THEN calls_serial_ms / calls_taken_ms END},
    {m: 'byte_identical', v: byte_identical::INT},
    {m: 'prefix_retained_tool_added', v: prefix_retained_tool_added},
    {m: 'prefix_retained_tool_removed', v: prefix_retained_tool_removed},
    {m: 'prefix_retained_description_edited', v: prefix_retained_description_edited},
    {m: 'prefix_retained_server_connected', v: prefix_retained_server_connected},
    {m: 'prefix_retained_server_disconnected', v: prefix_retained_server_disconnected}
  ], recursive := true)
  FROM paired
),
-- A reached call was dispatched; a call within reach had its tool in scope and available when it was asked for.
gold AS (
  SELECT *, path NOT IN ('lost', 'unavailable', 'declined') AS reached, path NOT IN ('unavailable', 'declined') AS within_reach FROM calls
),
of_calls AS (
  SELECT arm, class, unnest([
    {m: 'extra_requests', v: CASE WHEN cold AND reached THEN extra_requests::DOUBLE END},
    {m: 'lost_rate', v: CASE WHEN within_reach THEN (path = 'lost')::INT END},
    {m: 'path_direct', v: (path = 'direct')::INT},
    {m: 'path_warm', v: (path = 'warm')::INT},
    {m: 'path_described', v: (path = 'described')::INT},
    {m: 'path_searched', v: (path = 'searched')::INT},
    {m: 'path_retried', v: (path = 'retried')::INT},
    {m: 'path_blind', v: (path = 'blind')::INT},
    {m: 'path_repaired', v: (path = 'repaired')::INT},
    {m: 'path_lost', v: (path = 'lost')::INT},
    {m: 'path_unavailable', v: (path = 'unavailable')::INT},
    {m: 'path_declined', v: (path = 'declined')::INT}
  ], recursive := true)
  FROM gold
),
totals AS (
  SELECT 'cold_calls' AS m, arm, class, count(*) FILTER (cold) AS v, count(*) AS n FROM calls GROUP BY GROUPING SETS ((arm), (arm, class))
  UNION ALL
  SELECT 'duplicated_side_effects', arm, NULL, sum(duplicated_side_effects), count(*) FROM played WHERE watched GROUP BY arm
  UNION ALL
  SELECT 'leaked_secrets', arm, NULL, sum(leaked_secrets), count(*) FROM played WHERE watched GROUP BY arm
),
-- The latencies of dispatched golds, ascending, of arms whose calls are watched in some session.
latencies AS (
  SELECT arm, list(latency_ms ORDER BY latency_ms) AS sorted, count(*) AS n
  FROM calls WHERE outcome <> '' AND arm IN (SELECT arm FROM played WHERE watched) GROUP BY arm
),
percentiles AS (
  SELECT 'call_latency_p' || percent || '_ms' AS m, arm, sorted[(percent * n + 99) // 100] AS v, n
  FROM latencies, LATERAL (SELECT unnest([50, 95, 99]) AS percent)
),
-- The first query of each intent: the ranks of its golds, each at its best one, ascending.
asked AS (
  SELECT arm, class, search_limit,
    CASE WHEN pool_size < 2 THEN pool_size::VARCHAR
      ELSE (1 << floor(log2(pool_size))::INT) || '-' || ((1 << (floor(log2(pool_size))::INT + 1)) - 1) END AS pool_bin,
    len(list_distinct(gold)) AS relevant, len(hits) AS found,
    list_sort(list_filter(list_transform(list_distinct(gold), lambda g: list_position(list_transform(hits, lambda h: h.tool), g)), lambda r: r > 0)) AS ranks
  FROM searches WHERE step = 0
),
cuts AS (
  SELECT asked.*, cut.name, cut.k,
    list_filter(ranks, lambda r: r <= cut.k) AS within
  FROM asked, LATERAL (SELECT unnest([{name: '1', k: 1}, {name: '3', k: 3}, {name: '5', k: 5}, {name: '10', k: 10}, {name: 'limit', k: search_limit}], recursive := true)) AS cut
  WHERE relevant > 0
),
of_searches AS (
  SELECT arm, class, pool_bin, unnest([
    {m: 'recall@' || name, v: len(within) / relevant},
    {m: 'precision@' || name, v: len(within) / k},
    {m: 'success@' || name, v: (len(within) > 0)::INT},
    {m: 'completeness@' || name, v: (len(within) = relevant)::INT},
    {m: 'ndcg@' || name, v: coalesce(list_sum(list_transform(within, lambda r: 1 / log2(r + 1))), 0)
      / list_sum(list_transform(range(1, least(k, relevant) + 1), lambda r: 1 / log2(r + 1)))}
  ], recursive := true)
  FROM cuts
  UNION ALL
  SELECT arm, class, pool_bin, unnest([
    {m: 'mrr', v: CASE WHEN relevant > 0 THEN coalesce(1 / ranks[1], 0) END},
    {m: 'map', v: CASE WHEN relevant > 0 THEN coalesce(list_sum(list_transform(ranks, lambda r, i: i / r)), 0) / relevant END},
    {m: 'no_match_accuracy', v: CASE WHEN class = 'absent' THEN (found = 0)::DOUBLE END}
  ], recursive := true)
  FROM asked
)
SELECT m, arm, NULL AS class, NULL AS pool_bin, avg(v), count(v) FROM of_sessions GROUP BY m, arm HAVING count(v) > 0
UNION ALL
SELECT m, arm, class, NULL, avg(v), count(v) FROM of_calls GROUP BY GROUPING SETS ((m, arm), (m, arm, class)) HAVING count(v) > 0
UNION ALL
SELECT m, arm, class, NULL, v, n FROM totals
UNION ALL
SELECT m, arm, NULL, NULL, v, n FROM percentiles
UNION ALL
SELECT m, arm, class, pool_bin, avg(v), count(v) FROM of_searches GROUP BY GROUPING SETS ((m, arm), (m, arm, class), (m, arm, pool_bin)) HAVING count(v) > 0
