// The keys of personal data for tests: real ones, in the test's database, under a fixed master key.
import { createDataKeys, type PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { Test } from 'tap'

/** `PII_MASTER_KEY` of every process that a test starts. */
export const testMasterKey = Buffer.alloc(32, 'master key of the tests').toString('base64')

/** @param databaseUrl a migrated database. The keys are closed at the end of the test. */
export async function startTestKeys(t: Test, databaseUrl: string): Promise<PersonalDataKeys> {
  const log = createLog({ app: 'test', level: 'silent' })
  const keys = createDataKeys({ databaseUrl, masterKeys: masterKeysOf([testMasterKey]), log })
  t.teardown(() => keys.close())
  await keys.start()
  return keys
}
