// What attempts have to send.
import type { Pool } from 'pg'
import type { AttemptRef } from './deliveries.ts'

export type DueDelivery = {
  readonly event: string
  readonly body: string
  readonly is_test: boolean
  /** Attempts that were made before the present series of retries began. */
  readonly series_start: number
  readonly correlation_id: string
  readonly causation_id: string
  /** Where the trace of it goes on; `null` when nobody traces it. */
  readonly traceparent: string | null
}

/**
 * Looks up many at once.
 * @returns for each, in their order, what it has to send: nothing when the attempt was made already, the delivery is
 * finished, or its node is disabled
 */
export async function dueDeliveries(
  pool: Pool,
  attempts: readonly AttemptRef[],
): Promise<readonly (DueDelivery | undefined)[]> {
  const { rows } = await pool.query<DueDelivery & { place: bigint }>({
    name: 'due-deliveries',
    text: dueSql,
    values: [attempts.map(({ deliveryId }) => deliveryId), attempts.map(({ attempt }) => attempt - 1)],
  })
  const byPlace = new Map(rows.map(({ place, ...due }) => [Number(place), due]))
  return attempts.map((_, index) => byPlace.get(index + 1))
}

// The inner query stands alone (offset 0), so that rows are found by their primary key: any other condition would offer the
// planner the index of all that is pending, which under load is mostly dead entries.
const dueSql = `
select g.place, d.event, d.body, d.is_test, d.series_start, d.correlation_id, d.causation_id, d.traceparent
from unnest($1::uuid[], $2::integer[]) with ordinality as g (id, attempts, place)
cross join lateral (
  select node, event, body, is_test, series_start, status, attempts, correlation_id, causation_id, traceparent
  from webhooks.deliveries where id = g.id offset 0
) d
where d.status = 'pending' and d.attempts = g.attempts
  and not exists (select from webhooks.nodes n where n.name = d.node and n.disabled_at is not null)`
