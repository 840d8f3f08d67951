import { randomBytes } from 'node:crypto'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { startTestKeys, testMasterKey } from '@paylog/testing/dataKeys'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import t from 'tap'
import { runOps } from '../testing/runOps.ts'

t.test('privacy rotate wraps every key with the first master key', async (t) => {
  const { databaseUrl: DATABASE_URL } = await createMigratedDatabase(t)
  await (await startTestKeys(t, DATABASE_URL)).named(['user:a'])
  const newKey = randomBytes(32).toString('base64')
  const [{ id }] = masterKeysOf([newKey])
  const rotate = (PII_MASTER_KEY: string) => runOps(['privacy', 'rotate', '--json'], { DATABASE_URL, PII_MASTER_KEY })
  t.match(await rotate(newKey), {
    code: 1,
    stdout: '',
    stderr: /^PII_MASTER_KEY does not open the keys of personal data/,
  })
  const both = `${newKey},${testMasterKey}`
  const first = await rotate(both)
  t.match(first, { code: 0 })
  t.same(JSON.parse(first.stdout), { complete: true, master_key: id, rewrapped: 2 })
  t.match(await runOps(['privacy', 'rotate'], { DATABASE_URL, PII_MASTER_KEY: both }), {
    code: 0,
    stdout: `0 rows are wrapped with master key ${id} now. It wraps all keys.\n`,
  })
})
