-- Every curve of savings against eager, a row for each place: measure, arm, place, sessions, saved, break_even (0: none),
-- sessions of the whole curve.
WITH
pairs AS (
  SELECT a.arm, a.session_id, a.deferred_schema_tokens, a.effective_tokens_by_turn AS spent, e.effective_tokens_by_turn AS eager,
    e.effective_tokens - a.effective_tokens AS saved
  FROM session_arms a JOIN session_arms e ON e.session_id = a.session_id AND e.arm = 'eager' WHERE a.arm <> 'eager'
),
placed AS (
  SELECT 'break_even_turns' AS measure, arm, session_id, i AS place, eager[i] - spent[i] AS saved
  FROM pairs, LATERAL (SELECT unnest(range(1, len(spent) + 1)) AS i)
  UNION ALL
  SELECT 'break_even_tokens', arm, session_id, 1 << floor(log2(deferred_schema_tokens))::INT, saved FROM pairs WHERE deferred_schema_tokens > 0
),
curve AS (
  SELECT measure, arm, place, count(*) AS sessions, avg(saved) AS saved FROM placed GROUP BY ALL
),
-- A place saves to the end if no later place, nor itself, costs as much as eager or more.
ends AS (
  SELECT *, max(CASE WHEN saved <= 0 THEN place END) OVER (PARTITION BY measure, arm) AS last_costly FROM curve
),
compared AS (
  SELECT measure, arm, count(DISTINCT session_id) AS compared FROM placed GROUP BY ALL
)
SELECT measure, arm, place, sessions, saved,
  coalesce(min(CASE WHEN place > coalesce(last_costly, 0) THEN place END) OVER (PARTITION BY measure, arm), 0), compared
FROM ends JOIN compared USING (measure, arm)
ORDER BY measure, arm, place
