// What waits to be finished at the providers, for the figures: an operator is told of what stays open for long.
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { Pool } from 'pg'

type OpenTasks = {
  readonly provider: string
  readonly open: number
  readonly unsettled: number
  readonly overdue_seconds: number
}

/**
 * Adds the figures of the follow-ups that cannot wait: calls whose outcome is not known, notifications that are not applied,
 * approvals to capture. Payments that are only watched are not among them.
 * @param options `providers` are the enabled ones; those that are not show as soon as something waits for them
 */
export function measureReconciler(
  metrics: Metrics,
  { pool, providers, log }: { readonly pool: Pool; readonly providers: readonly string[]; readonly log: Logger },
): void {
  metrics.gauges<OpenTasks>({
    readRows: async () =>
      (await pool.query<OpenTasks>({ name: 'open-follow-ups', text: openSql, values: [providers] })).rows,
    labelName: 'provider',
    labelOf: ({ provider }) => provider,
    figures: [
      {
        name: 'follow_ups_open',
        help: 'Calls and notifications that have to be finished, up to 10000',
        measure: ({ open }) => open,
      },
      {
        name: 'follow_ups_unsettled',
        help: 'Those of them that were looked at for some minutes in vain, of the first 10000',
        measure: ({ unsettled }) => unsettled,
      },
      {
        name: 'follow_ups_overdue_seconds',
        help: 'For how long the next look that waits longest has been due',
        measure: ({ overdue_seconds }) => overdue_seconds,
      },
    ],
    log,
  })
}

// After the fifth pause in a row 10 + 20 + 40 + 80 + 160 s have gone by.
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
