// The sandbox's undelivered notifications in Postgres.
import type pg from 'pg'
import type { IntentChange } from './memory.ts'

type Connection = Pick<pg.ClientBase, 'query'>

/** Longer than a receiver may take. After it another process delivers what this one claimed and did not deliver. */
const claimSeconds = 30
const maxClaimed = 20

const isNext = `due.due_at <= now() and not exists (
  select from sandbox.notifications earlier
  where earlier.provider_intent_id = due.provider_intent_id and earlier.id < due.id)`
const applies = `(due.created_at > now() - interval '3 days'
  and (due.only_while is null or due.only_while = known.intent ->> 'status'))`

export const outbox = {
  async add(client: Connection, intentId: string, notification: IntentChange['notifications'][number]): Promise<void> {
    const { body, delay_seconds, only_while } = notification
    await client.query(
      `insert into sandbox.notifications (provider_intent_id, body, due_at, only_while)
       values ($1, $2, now() + make_interval(secs => $3), $4)`,
      [intentId, body, delay_seconds, only_while],
    )
  },

  /** Drops what no longer applies or was never accepted, then claims the next notification of each intent. */
  async claim(client: Connection): Promise<readonly { readonly id: string; readonly body: string }[]> {
    const { rows } = await client.query<{ id: string; body: string }>(
      `with dropped as (
         delete from sandbox.notifications due using sandbox.intents known
         where known.provider_intent_id = due.provider_intent_id and ${isNext} and not ${applies})
       update sandbox.notifications set due_at = now() + make_interval(secs => $1)
       where id in (
         select due.id from sandbox.notifications due join sandbox.intents known using (provider_intent_id)
         where ${isNext} and ${applies} order by due.id limit $2 for update of due skip locked)
       returning id, body`,
      [claimSeconds, maxClaimed],
    )
    return rows
  },

  async remove(client: Connection, id: string): Promise<void> {
    await client.query('delete from sandbox.notifications where id = $1', [id])
  },
}
