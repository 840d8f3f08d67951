// The memory of the sandbox in Postgres.
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createSessionPool } from '@paylog/runtime/postgres/session'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type pg from 'pg'
import { Compile } from 'typebox/compile'
import { ProviderError } from '../provider.ts'
import { SandboxIntent } from './intent.ts'
import type { IntentChange, SandboxMemory, SandboxOutbox } from './memory.ts'
import { outbox } from './postgresOutbox.ts'

const maxConnections = 3
const stored = Compile(SandboxIntent)

/**
 * A memory that all processes with the same database share. It creates its schema `sandbox` on first use.
 * @param options `timeoutMs` for each statement
 */
export function createPostgresMemory(options: {
  readonly databaseUrl: string
  readonly timeoutMs: number
}): SandboxMemory & SandboxOutbox {
  const { databaseUrl, timeoutMs } = options
  const pool = createSessionPool(
    {
      databaseUrl,
      application_name: 'paylog sandbox',
      max: maxConnections,
      connectionTimeoutMillis: timeoutMs,
      // A statement that hangs without the server noticing.
      query_timeout: timeoutMs,
    },
    { statement_timeout: timeoutMs, idle_in_transaction_session_timeout: timeoutMs },
  )
  // A lost idle connection is replaced; without a listener it would end the process.
  pool.on('error', () => undefined)
  let migrated: Promise<unknown> | undefined

  async function withTables<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      migrated ??= migrate(pool, { schema: 'sandbox', directory: new URL('./migrations/', import.meta.url) })
      await migrated.catch((error: unknown) => {
        migrated = undefined
        throw error
      })
      return await work()
    } catch (cause) {
      if (cause instanceof ProviderError) throw cause
      const message = 'The memory of the sandbox did not respond'
      throw new ProviderError('unknown', 'sandbox_memory', message, { cause })
    }
  }

  async function find(column: 'provider_intent_id' | 'payment_id', id: string): Promise<SandboxIntent[]> {
    const sql = `select intent from sandbox.intents where ${column} = $1 order by provider_intent_id`
    const { rows } = await pool.query<{ intent: unknown }>(sql, [id])
    return rows.map(({ intent }) => decoded(intent))
  }

  return {
    read: (intentId) => withTables(async () => (await find('provider_intent_id', intentId))[0]),
    ofPayment: (paymentId) => withTables(() => find('payment_id', paymentId)),
    add: (intent) =>
      withTables(async () => {
        await pool.query(
          `insert into sandbox.intents (provider_intent_id, payment_id, intent) values ($1, $2, $3)
           on conflict (provider_intent_id) do nothing`,
          [intent.provider_intent_id, intent.payment_id, JSON.stringify(intent)],
        )
      }),
    update: (intentId, change) => withTables(() => inTransaction(pool, (client) => update(client, intentId, change))),
    change: (intentId, change) =>
      withTables(() =>
        inTransaction(pool, async (client) => {
          const notifications: IntentChange['notifications'][number][] = []
          const intent = await update(client, intentId, (known) => {
            const changed = change(known)
            notifications.push(...(changed?.notifications ?? []))
            return changed?.intent ?? known
          })
          for (const notification of notifications) await outbox.add(client, intentId, notification)
          return intent
        }),
      ),
    due: () => withTables(() => outbox.claim(pool)),
    delivered: (id) => withTables(() => outbox.remove(pool, id)),
    close: () => pool.end(),
  }
}

type Connection = Pick<pg.ClientBase, 'query'>

async function update(client: Connection, intentId: string, change: Parameters<SandboxMemory['update']>[1]) {
  const sql = 'select intent from sandbox.intents where provider_intent_id = $1 for update'
  const { rows } = await client.query<{ intent: unknown }>(sql, [intentId])
  if (!rows[0]) return undefined
  const known = decoded(rows[0].intent)
  const changed = change(known)
  if (changed !== known)
    await client.query('update sandbox.intents set intent = $2, updated_at = now() where provider_intent_id = $1', [
      intentId,
      JSON.stringify(changed),
    ])
  return changed
}

function decoded(intent: unknown): SandboxIntent {
  if (stored.Check(intent)) return intent
  throw new Error('an intent of the sandbox has another shape')
}
