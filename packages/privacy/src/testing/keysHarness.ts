// A migrated database, and processes' keys in it.
import { randomBytes } from 'node:crypto'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { testPool } from '@paylog/testing/testPool'
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { createDataKeys, type PersonalDataKeys } from '../dataKeys.ts'
import { type MasterKeys, masterKeysOf } from '../masterKeys.ts'

const log = createLog({ app: 'test', level: 'silent' })

export type KeysHarness = {
  readonly databaseUrl: string
  /** Of the owner of the tables. */
  readonly pool: Pool
  readonly masterKeys: MasterKeys
  /** The keys of another process. */
  start(options?: StartOptions): Promise<PersonalDataKeys>
}

type StartOptions = {
  readonly masterKeys?: MasterKeys
  /** To reach the database through a proxy. */
  readonly databaseUrl?: string
  readonly timing?: { readonly sweepMs: number; readonly maxAgeMs: number }
}

export async function keysHarness(t: Test): Promise<KeysHarness> {
  const { databaseUrl } = await createMigratedDatabase(t)
  const pool = testPool(t, databaseUrl)
  const masterKeys = newMasterKeys()
  return {
    databaseUrl,
    pool,
    masterKeys,
    async start(options) {
      const keys = createDataKeys({ databaseUrl, masterKeys, log, ...options })
      t.teardown(() => keys.close())
      await keys.start()
      return keys
    },
  }
}

/** One random master key. */
export const newMasterKeys = (): MasterKeys => masterKeysOf([randomBytes(32).toString('base64')])

/** Of an app that stops at the end of the test: what was added last stops first. */
export function testLifecycle(t: Test): Pick<Lifecycle, 'add' | 'stopping'> {
  const stopping = new AbortController()
  const stops: (() => unknown)[] = []
  t.teardown(async () => {
    stopping.abort()
    for (const stop of stops) await stop()
  })
  return { add: (_name, stop) => void stops.unshift(stop), stopping: stopping.signal }
}
