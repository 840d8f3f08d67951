// The keys of personal data for what a benchmark writes and reads itself.

import { createDataKeys, type PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { migratePrivacy } from '@paylog/privacy/migrate'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { loadConfig } from '@paylog/runtime/config/environment'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { Type } from 'typebox'

/**
 * Creates the tables of the keys if they are missing, and opens the keys.
 * @param environment with `DATABASE_URL`; `PII_MASTER_KEY` is the one of the benchmarks, unless it is set
 * @param stack closes them
 */
export async function startKeys(
  stack: AsyncDisposableStack,
  environment: Readonly<Record<string, string>>,
): Promise<PersonalDataKeys> {
  const config = loadConfig(Type.Object(dataKeyVariables), { ...withMasterKey(environment), ...environment })
  const log = createLog({ app: 'bench', level: 'error' })
  const pool = createPool({ databaseUrl: config.DATABASE_URL, applicationName: 'bench', max: 1, log })
  await migratePrivacy(pool).finally(() => pool.end())
  const masterKeys = masterKeysOf(config.PII_MASTER_KEY)
  const keys = createDataKeys({ databaseUrl: config.DATABASE_URL, masterKeys, log })
  stack.defer(() => keys.close())
  await keys.start()
  return keys
}

const withMasterKey = (environment: Readonly<Record<string, string>>) =>
  'PII_MASTER_KEY_FILE' in environment ? {} : { PII_MASTER_KEY: testMasterKey }
