// The keys of personal data.
import type { Writable } from 'node:stream'
import { createDataKeys, type PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { replayErasuresOf } from '@paylog/privacy/replayErasures'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { loadConfig } from '@paylog/runtime/config/environment'
import { createLog } from '@paylog/runtime/telemetry/log'
import { Type } from 'typebox'
import { logVariable } from './variables.ts'

const Config = Type.Object({ ...logVariable, ...dataKeyVariables })

/**
 * Opens the keys, after the erasures in the log are applied to them.
 * @param options `errors` receives log lines, `opened` closes the keys
 * @throws ConfigError, MasterKeyError; errors of Postgres and of the log
 */
export async function openKeys(
  environment: NodeJS.ProcessEnv,
  { errors, opened }: { readonly errors: Writable; readonly opened: AsyncDisposableStack },
): Promise<PersonalDataKeys> {
  const config = loadConfig(Config, environment)
  const log = createLog({ app: 'ops', level: 'warn' }, errors)
  const masterKeys = masterKeysOf(config.PII_MASTER_KEY)
  const keys = createDataKeys({ databaseUrl: config.DATABASE_URL, masterKeys, log })
  try {
    await keys.start()
    await replayErasuresOf(config, { log })
  } catch (error) {
    // A command may go on without keys. Nothing must try to reach Postgres then.
    await keys.close()
    throw error
  }
  opened.defer(() => keys.close())
  return keys
}
