// The keys of personal data of an app.
import { url } from '@paylog/runtime/config/kinds'
import { isDatabaseUnavailable } from '@paylog/runtime/postgres/databaseErrors'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createDataKeys, type PersonalDataKeys } from './dataKeys.ts'
import { masterKeysOf, masterKeyVariables } from './masterKeys.ts'
import { replayErasuresOf, replayUntilDone } from './replayErasures.ts'

export const dataKeyVariables = {
  /** Where the keys are. */
  DATABASE_URL: url(['postgres', 'postgresql']),
  ...masterKeyVariables,
}

/**
 * Opens the keys. They can be used as soon as the erasures in the log have been applied to them. The lifecycle closes them,
 * after what is started later. While Postgres is unavailable the app starts, and its requests that need a key fail.
 * @throws MasterKeyError when the master key is not the one of this database, or lost; other errors of Postgres
 */
export async function startDataKeys(
  config: {
    readonly DATABASE_URL: string
    readonly EVENTSTORE_URL: string
    readonly PII_MASTER_KEY: readonly string[]
  },
  { log, lifecycle }: { readonly log: Logger; readonly lifecycle: Pick<Lifecycle, 'add' | 'stopping'> },
): Promise<PersonalDataKeys> {
  const masterKeys = masterKeysOf(config.PII_MASTER_KEY)
  const { promise: replayed, resolve } = Promise.withResolvers<void>()
  const keys = createDataKeys({ databaseUrl: config.DATABASE_URL, masterKeys, replayed, log })
  lifecycle.add('keys', () => keys.close())
  await keys.start().catch((error: unknown) => {
    if (!isDatabaseUnavailable(error)) throw error
    log.warn({ err: error }, 'the keys of personal data are not available yet')
  })
  const { stopping: signal } = lifecycle
  const replay = () => replayErasuresOf(config, { log, signal })
  const replaying = replayUntilDone(replay, { log, signal }).then((isDone) => {
    if (isDone) resolve()
  })
  lifecycle.add('replay of erasures', () => replaying)
  return keys
}
