import { loadConfig } from '@paylog/runtime/config/environment'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { masterKeysOf, masterKeyVariables, unwrap, wrap } from './masterKeys.ts'
import { keysHarness, newMasterKeys } from './testing/keysHarness.ts'

const Config = Type.Object(masterKeyVariables)
const keyText = (fill: number) => Buffer.alloc(32, fill).toString('base64')
const decode = (value: string) => masterKeysOf(loadConfig(Config, { PII_MASTER_KEY: value }).PII_MASTER_KEY)

t.test('PII_MASTER_KEY holds one or more keys of 32 bytes, the first of which wraps', async (t) => {
  const [first, second] = decode(`${keyText(1)}, ${keyText(2)}`)
  t.same([first.key.symmetricKeySize, second?.key.symmetricKeySize], [32, 32])
  t.match(first.id, /^[0-9a-f]{8}$/)
  t.throws(() => loadConfig(Config, {}), { message: 'Bad configuration: PII_MASTER_KEY is required' })
  for (const bad of ['secret', Buffer.alloc(16).toString('base64'), `${keyText(1)},secret`, keyText(1).slice(0, -1)])
    t.throws(() => decode(bad), { message: /^Bad configuration: PII_MASTER_KEY must be one or more keys of 32 bytes/ })
  t.throws(() => decode(','), { message: 'PII_MASTER_KEY is required' })
})

t.test('a wrapped secret opens with its master key and its own row id only', async (t) => {
  const masterKeys = newMasterKeys()
  const secret = Buffer.alloc(32, 7)
  const row = wrap(masterKeys, 'a', secret)
  t.same(unwrap(masterKeys, row), secret)
  t.same(unwrap([...newMasterKeys(), masterKeys[0]], row), secret, 'with an additional master key')
  t.not(wrap(masterKeys, 'a', secret).wrapped.toString('hex'), row.wrapped.toString('hex'), 'with another iv each time')
  t.throws(() => unwrap(masterKeys, { ...row, id: 'b' }), { message: /^The row b of the schema privacy is damaged/ })
  t.throws(() => unwrap(newMasterKeys(), row), {
    message: `PII_MASTER_KEY does not open the keys of personal data, which need master key ${row.master}`,
  })
})

/** The message of the error with which a process ends that starts with these master keys. */
async function failureOf(t: Test, start: () => Promise<unknown>): Promise<string> {
  const error = await start().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  t.match(error, { name: 'MasterKeyError' })
  return error instanceof Error ? error.message : ''
}

t.test('a process with another master key does not start', async (t) => {
  const { start, masterKeys } = await keysHarness(t)
  await start()
  t.equal(
    await failureOf(t, () => start({ masterKeys: newMasterKeys() })),
    `PII_MASTER_KEY does not open the keys of personal data, which need master key ${masterKeys[0].id}`,
  )
})

t.test('a process without a master key that some rows need does not start', async (t) => {
  const { start, masterKeys } = await keysHarness(t)
  await (await start()).named(['user:a'])
  const others = newMasterKeys()
  await (await start({ masterKeys: [others[0], masterKeys[0]] })).named(['user:b'])
  t.equal(
    await failureOf(t, () => start()),
    `PII_MASTER_KEY lacks master key ${others[0].id}, which some keys of personal data need: add it, or rotate first`,
  )
})

t.test('a process does not start with keys whose lookup secret is gone', async (t) => {
  const { start, pool } = await keysHarness(t)
  await (await start()).named(['user:a'])
  await pool.query('delete from privacy.lookup_secret')
  t.match(await failureOf(t, () => start()), /^The row of privacy.lookup_secret is missing although there are keys/)
})
