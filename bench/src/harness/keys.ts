// The keys of personal data for what a benchmark writes and reads itself.
import { loadConfig } from '@paylog/config/environment'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { migratePrivacy } from '@paylog/privacy/migrate'
import { dataKeyVariables, startDataKeys } from '@paylog/privacy/startDataKeys'
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
  return await startDataKeys(config, { log, lifecycle: { add: (_name, stop) => stack.defer(async () => stop()) } })
}

const withMasterKey = (environment: Readonly<Record<string, string>>) =>
  'PII_MASTER_KEY_FILE' in environment ? {} : { PII_MASTER_KEY: testMasterKey }
