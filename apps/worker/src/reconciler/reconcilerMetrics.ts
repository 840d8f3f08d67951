// Metrics of urgent follow-ups, so that operators notice unfinished provider operations.
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { Pool } from 'pg'

type OpenFollowUps = {
  readonly provider: string
  readonly open: number
  readonly unsettled: number
  readonly overdue_seconds: number
}

/**
 * Adds the metrics of urgent follow-ups: calls with an unknown outcome, notifications not yet applied, approvals to capture.
 * Watched payments are not counted.
 * @param options `providers` are the enabled ones; others appear when they have urgent follow-ups
 */
export function measureReconciler(
  metrics: Metrics,
  { pool, providers, log }: { readonly pool: Pool; readonly providers: readonly string[]; readonly log: Logger },
): void {
  metrics.gauges<OpenFollowUps>({
    readRows: async () =>
      (await pool.query<OpenFollowUps>({ name: 'open-follow-ups', text: openSql, values: [providers] })).rows,
    labelName: 'provider',
    labelOf: ({ provider }) => provider,
    figures: [
      {
        name: 'follow_ups_open',
        help: 'Urgent follow-ups: calls and notifications to finish, counted up to 10000',
        measure: ({ open }) => open,
      },
      {
        name: 'follow_ups_unsettled',
        help: 'Urgent follow-ups that several attempts did not settle, among the first 10000',
        measure: ({ unsettled }) => unsettled,
      },
      {
        name: 'follow_ups_overdue_seconds',
        help: 'How long the oldest due follow-up has been due',
        measure: ({ overdue_seconds }) => overdue_seconds,
      },
    ],
    log,
  })
}

// The fifth pause in a row ends after 10 + 20 + 40 + 80 + 160 s.
const openSql = `
select provider, coalesce(open, 0) as open, coalesce(unsettled, 0) as unsettled,
  coalesce(greatest(extract(epoch from now() - oldest_due_at)::float8, 0), 0) as overdue_seconds
from (
  select unnest($1::text[]) as provider
  union select provider_id from webhooks.follow_ups where soon_at is not null
) as providers
left join lateral (
  select count(*)::integer as open, count(*) filter (where pauses > 5)::integer as unsettled, min(soon_at) as oldest_due_at
  from (
    select pauses, soon_at from webhooks.follow_ups
    where provider_id = provider and soon_at is not null order by soon_at limit 10000
  ) as up_to_10000
) as counted on true`
