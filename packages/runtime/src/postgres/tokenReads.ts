// Which guest tokens have read which payments: the query side, which cannot write to the log, announces it through Postgres, and
// the command side remembers it. An announcement has a hash and an id, so it says nothing of a person.
import type { Guest } from '@paylog/domain/actor'
import { recordedId } from '@paylog/domain/fields'
import type { Pool } from 'pg'
import { recentKeys } from '../process/recentKeys.ts'
import type { Logger } from '../telemetry/log.ts'
import { listen } from './listen.ts'

const channel = 'guest_token_reads'
/** Announced again after this, because nobody may have listened. */
const againAfterMs = 60_000
const maxRemembered = 10_000

export type TokenRead = { readonly token_hash: string; readonly payment_id: string }

/** @returns a function that announces a read, which neither waits nor fails */
export function createTokenReads(
  db: Pick<Pool, 'query'>,
  log: Pick<Logger, 'debug'>,
): (guest: Guest, payment_id: string) => void {
  const announced = recentKeys<number>(maxRemembered)
  return ({ token_hash }, payment_id) => {
    const last = announced.get(token_hash)
    if (last !== undefined && performance.now() - last < againAfterMs) return
    announced.set(token_hash, performance.now())
    db.query('select pg_notify($1, $2)', [channel, `${token_hash} ${payment_id}`]).catch((error: unknown) =>
      log.debug({ err: error }, 'could not announce that a guest token has read a payment'),
    )
  }
}

/** Calls `onRead` for each announced read, until the signal aborts. */
export function listenForTokenReads(options: {
  readonly databaseUrl: string
  readonly onRead: (read: TokenRead) => Promise<void>
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { databaseUrl, onRead, signal, log } = options
  return listen({
    ...{ databaseUrl, channel, signal, log },
    onNotification(payload) {
      const [token_hash = '', id = ''] = payload.split(' ')
      const payment_id = recordedId(id)
      if (!/^[0-9a-f]{64}$/.test(token_hash) || payment_id === null) return
      onRead({ token_hash, payment_id }).catch((error: unknown) =>
        log.warn({ err: error }, 'could not remember a guest token that has read a payment'),
      )
    },
  })
}
