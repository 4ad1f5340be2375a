-- Rules that the tables of every run keep. Each statement finds the rows that break its rule.

-- rule: a row for each session under each arm
SELECT session_id, count(*) FROM session_arms GROUP BY ALL
  HAVING count(*) <> (SELECT count(DISTINCT arm) FROM session_arms) OR count(DISTINCT arm) <> count(*);

-- rule: calls are of sessions played
SELECT * FROM calls ANTI JOIN session_arms USING (session_id, row_index, arm);

-- rule: searches are of sessions played
SELECT * FROM searches ANTI JOIN session_arms USING (session_id, row_index, arm);

-- rule: calls rest on the assumptions of their arm
SELECT DISTINCT arm FROM calls ANTI JOIN session_arms
  USING (arm, variant, bridge, retriever, agent, writer, tokenizer, gateway, memo, cache, settings, weight_fresh, weight_cached, weight_write, weight_output);

-- rule: a call for each gold and absent intent
SELECT session_id, turn, gold_index, count(*) FROM calls GROUP BY ALL
  HAVING count(*) <> (SELECT count(DISTINCT arm) FROM session_arms) OR count(DISTINCT arm) <> count(*) OR count(DISTINCT tool) > 1 OR count(DISTINCT class) > 1;

-- rule: calls in every turn
SELECT session_id, arm FROM session_arms s LEFT JOIN calls c USING (session_id, arm)
  GROUP BY session_id, arm, s.turns HAVING count(DISTINCT turn) <> s.turns OR max(turn) <> s.turns - 1;

-- rule: queries count up from 0
SELECT session_id, arm, turn FROM searches GROUP BY ALL HAVING list(step ORDER BY step) <> range(0, count(*));

-- rule: a surface is there once
SELECT surface_sha256 FROM surfaces GROUP BY ALL HAVING count(*) > 1;

-- rule: a first surface is there
SELECT session_id, arm FROM session_arms ANTI JOIN surfaces USING (surface_sha256);

-- rule: a surface is the sum of parts
SELECT surface_sha256 FROM surfaces WHERE surface_tokens <> visible_tokens + bridge_tokens + listing_tokens
  UNION ALL SELECT session_id || ' ' || arm FROM session_arms WHERE surface_tokens <> visible_tokens + bridge_tokens + listing_tokens;

-- rule: sessions have the counts of their surface
SELECT session_id, arm FROM session_arms s JOIN surfaces u USING (surface_sha256, tokenizer)
  WHERE (s.surface_tokens, s.visible_tokens, s.bridge_tokens, s.listing_tokens, s.visible_tools, s.deferred_tools, s.activated, s.form, s.tier)
    IS DISTINCT FROM (u.surface_tokens, u.visible_tokens, u.bridge_tokens, u.listing_tokens, u.visible_tools, u.deferred_tools, u.activated, u.form, u.tier);

-- rule: without a bridge all is on the surface
SELECT session_id, arm FROM session_arms WHERE NOT activated
  AND (surface_tokens <> eager_tokens OR deferred_tools <> 0 OR bridge_tokens + listing_tokens <> 0 OR deferred_schema_tokens <> 0);

-- rule: a bridge has something to defer
SELECT session_id, arm FROM session_arms WHERE activated AND (NOT bridge OR deferred_tools = 0 OR bridge_tokens = 0);

-- rule: deferred schemas are off the surface
SELECT session_id, arm FROM session_arms WHERE deferred_schema_tokens <> eager_tokens - visible_tokens;

-- rule: eager tokens are the same under every arm
SELECT session_id, tokenizer FROM session_arms GROUP BY ALL HAVING count(DISTINCT eager_tokens) > 1;

-- rule: effective tokens are weighed tokens
SELECT session_id, arm FROM session_arms WHERE abs(effective_tokens
  - (weight_fresh * (prompt_tokens - cached_tokens) + weight_cached * cached_tokens + weight_output * output_tokens)) > 1e-6 OR weight_write <> 0;

-- rule: tokens by turn end in the session's
SELECT session_id, arm FROM session_arms WHERE len(prompt_tokens_by_turn) <> turns
  OR len(effective_tokens_by_turn) <> turns OR prompt_tokens_by_turn[-1] <> prompt_tokens OR effective_tokens_by_turn[-1] <> effective_tokens;

-- rule: no cache holds nothing
SELECT session_id, arm FROM session_arms WHERE cache = 'none' AND (cached_tokens <> 0 OR cache_lost_tokens <> 0);

-- rule: lost from the cache by changes
SELECT session_id, arm FROM session_arms WHERE cache_lost_tokens > 0 AND invalidations = 0 OR invalidations >= requests;

-- rule: wrong calls of a session are those of its golds
SELECT session_id, arm, any_value(s.wrong_calls), sum(c.wrong_calls) FROM session_arms s LEFT JOIN calls c USING (session_id, arm)
  GROUP BY session_id, arm HAVING any_value(s.wrong_calls) <> coalesce(sum(c.wrong_calls), 0);

-- rule: searches of a turn serve its golds
SELECT session_id, arm, turn, any_value(most), count(s.step) FILTER (issued)
  FROM (SELECT session_id, arm, turn, max(searches) AS most FROM calls GROUP BY ALL) LEFT JOIN searches s USING (session_id, arm, turn)
  GROUP BY session_id, arm, turn HAVING any_value(most) <> count(s.step) FILTER (issued);

-- rule: searches are issued in order
SELECT session_id, arm, turn FROM searches GROUP BY ALL HAVING count(*) FILTER (issued) <> coalesce(max(step) FILTER (issued), -1) + 1;

-- rule: paths are known
SELECT DISTINCT path FROM calls
  WHERE path NOT IN ('direct', 'warm', 'described', 'searched', 'retried', 'blind', 'repaired', 'lost', 'unavailable', 'declined');

-- rule: paths tell whether a tool is deferred
SELECT session_id, arm, path FROM calls
  WHERE path = 'direct' AND deferred OR path IN ('warm', 'described', 'searched', 'retried', 'blind', 'repaired') AND NOT deferred;

-- rule: cold calls are first uses, warm ones are later
SELECT c.session_id, c.arm, c.turn, c.tool, c.path, c.cold, count(e.path) FROM calls c
  LEFT JOIN calls e ON e.session_id = c.session_id AND e.arm = c.arm AND e.tool = c.tool AND e.path NOT IN ('lost', 'unavailable') AND (e.turn, e.gold_index) < (c.turn, c.gold_index)
  WHERE c.path <> 'declined' GROUP BY ALL
  HAVING c.cold <> (c.deferred AND c.path <> 'unavailable' AND count(e.path) = 0) OR (c.path = 'warm') <> (c.deferred AND c.path NOT IN ('lost', 'unavailable') AND count(e.path) > 0);

-- rule: absent intents are declined
SELECT session_id, arm, turn FROM calls WHERE (class = 'absent') <> (path = 'declined') OR (class = 'absent') <> (tool IS NULL);

-- rule: eager needs nothing more
SELECT session_id, turn, path, extra_requests, searches FROM calls WHERE arm = 'eager' AND (extra_requests <> 0 OR searches <> 0 OR wrong_calls <> 0 OR deferred);

-- rule: what is down is down under every arm
SELECT session_id, turn, gold_index, list(path) FROM calls GROUP BY ALL
  HAVING count(*) FILTER (path = 'unavailable') NOT IN (0, count(*));

-- rule: hits are ranked
SELECT session_id, arm, turn, step FROM searches WHERE list_transform(hits, lambda h: h.rank) <> range(1, len(hits) + 1)
  OR len(hits) > greatest(10, search_limit) OR len(hits) > pool_size OR len(list_distinct(list_transform(hits, lambda h: h.tool))) <> len(hits);

-- rule: scores fall
SELECT session_id, arm, turn, step FROM searches WHERE list_transform(hits, lambda h: h.score) <> list_reverse_sort(list_transform(hits, lambda h: h.score));

-- rule: what is judged is deferred, and what was reached is judged
SELECT session_id, arm, turn, possible, judged, needed FROM
  (SELECT session_id, arm, turn, coalesce(list(tool) FILTER (deferred), []) AS possible,
    coalesce(list(tool) FILTER (deferred AND path NOT IN ('unavailable', 'lost')), []) AS needed FROM calls GROUP BY ALL)
  LEFT JOIN (SELECT session_id, arm, turn, gold AS judged FROM searches WHERE step = 0) USING (session_id, arm, turn)
  WHERE NOT list_has_all(possible, coalesce(judged, [])) OR NOT list_has_all(coalesce(judged, []), needed);

-- rule: queries of a turn are judged by the same gold
SELECT session_id, arm, turn FROM searches GROUP BY ALL
  HAVING count(DISTINCT gold) > 1 OR count(DISTINCT intent_id) > 1 OR count(DISTINCT pool_size) > 1;

-- rule: golds are judged alike by arms that search alike
SELECT session_id, turn, step, retriever, writer, variant, memo FROM searches
  WHERE len(gold) > 0 OR class = 'absent' GROUP BY ALL HAVING count(DISTINCT gold) > 1 OR count(DISTINCT pool_size) > 1 OR count(DISTINCT query) > 1
    OR count(DISTINCT list_slice(list_transform(hits, lambda h: h.tool), 1, 10)) > 1;

-- rule: extra requests follow from the path
SELECT session_id, arm, turn, path, searches, extra_requests FROM calls c
  WHERE agent = 'aware' AND class <> 'multi_tool' AND extra_requests <> CASE path WHEN 'direct' THEN 0 WHEN 'warm' THEN 0 WHEN 'described' THEN 1
    WHEN 'searched' THEN 2 WHEN 'retried' THEN searches + 1 WHEN 'declined' THEN searches WHEN 'lost' THEN searches ELSE extra_requests END;

-- rule: requests are those of the calls
-- In a session without intents of several golds. Eager has called what the arm lost.
SELECT session_id, a.arm, a.requests, e.requests, extra FROM session_arms a JOIN session_arms e USING (session_id)
  JOIN (SELECT session_id, arm, sum(extra_requests) - count(*) FILTER (path = 'lost') AS extra FROM calls GROUP BY ALL
    HAVING max(gold_index) = 0 AND count(*) FILTER (path = 'unavailable') = 0) n ON n.session_id = a.session_id AND n.arm = a.arm
  WHERE e.arm = 'eager' AND a.arm <> 'eager' AND a.requests <> e.requests + extra AND NOT EXISTS (FROM calls c WHERE c.session_id = a.session_id AND c.arm = 'eager' AND c.path = 'lost');

-- rule: agents do what their rules say
SELECT session_id, arm, turn, agent, path FROM calls WHERE agent IN ('unaware', 'blind') AND searches > 0
  OR agent = 'unaware' AND path IN ('searched', 'retried') OR agent <> 'blind' AND path IN ('blind', 'repaired')
  OR agent <> 'hasty' AND wrong_calls > 0 OR wrong_calls > 6 OR searches > 3
  OR path = 'searched' AND searches <> 1 OR path = 'retried' AND searches < 2 OR path IN ('direct', 'described', 'blind') AND searches > 0;

-- rule: absent intents have no gold
SELECT session_id, arm, turn FROM searches WHERE class = 'absent' AND len(gold) > 0;

-- rule: times of a call add up
SELECT session_id, arm, turn, gold_index FROM calls WHERE abs(latency_ms - (waiting_ms + queued_ms + executing_ms + shaping_ms)) > 1e-6 * greatest(1, latency_ms);

-- rule: a call that was not dispatched has nothing to tell
SELECT session_id, arm, turn, gold_index FROM calls
  WHERE outcome = '' AND (code <> '' OR rule <> '' OR attempts <> 0 OR latency_ms <> 0 OR cache_hit OR throttled OR timed_out <> 0 OR truncated_tokens <> 0);

-- rule: reached calls are dispatched, and lost ones are not
SELECT session_id, arm, turn, gold_index FROM calls
  WHERE path IN ('direct', 'warm', 'described', 'searched', 'retried', 'blind', 'repaired') AND outcome = '' OR path IN ('lost', 'declined') AND outcome <> '';

-- rule: a session dispatches its golds and wrong calls at least
SELECT session_id, arm FROM session_arms s WHERE dispatched_calls < (SELECT count(*) FROM calls c WHERE (c.session_id, c.arm) = (s.session_id, s.arm) AND outcome <> '');

-- rule: without a gateway nothing is denied, retried, held up or cached
SELECT session_id, arm FROM session_arms WHERE gateway = 'off' AND (call_attempts <> dispatched_calls OR call_retries + call_timeouts + breaker_openings + throttled_calls
  + call_cache_hits + truncated_tokens + denied_visibility + denied_surface + denied_system + denied_admin + denied_session + denied_scope + denied_confirm <> 0);
