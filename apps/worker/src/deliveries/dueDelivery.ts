// What an attempt has to send.
import type { Pool } from 'pg'
import type { AttemptRef } from './deliveries.ts'

export type DueDelivery = {
  readonly event: string
  readonly body: string
  /** Attempts that were made before the present series of retries began. */
  readonly series_start: number
}

/** Nothing when the attempt was made already, the delivery is finished, or its node is disabled. */
export async function dueDelivery(pool: Pool, { deliveryId, attempt }: AttemptRef): Promise<DueDelivery | undefined> {
  const { rows } = await pool.query<DueDelivery>({
    name: 'due-delivery',
    text: dueSql,
    values: [deliveryId, attempt - 1],
  })
  return rows[0]
}

const dueSql = `
select event, body, series_start from webhooks.deliveries d
where id = $1 and status = 'pending' and attempts = $2
  and not exists (select from webhooks.nodes n where n.name = d.node and n.disabled_at is not null)`
