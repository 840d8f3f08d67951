import t from 'tap'
import { destroyKeys } from './destroyKeys.ts'
import { countOutdated, rotateKeys } from './rotateKeys.ts'
import { keysHarness, newMasterKeys } from './testing/keysHarness.ts'

const { signal } = new AbortController()

t.test('a rotation wraps all keys with the first master key, while another process goes on', async (t) => {
  const { start, pool, masterKeys: old } = await keysHarness(t)
  const both = [newMasterKeys()[0], old[0]] as const
  const names = Array.from({ length: 1_500 }, (_, index) => `user:${index}`)
  const running = await start({ masterKeys: [old[0], both[0]] })
  const made = await running.named(names)
  await destroyKeys(pool, [made[0]?.id ?? ''])
  t.equal(await countOutdated(pool, both), 1_500, 'all but the destroyed one, and the lookup secret')
  const progress: number[] = []
  const rotating = rotateKeys(pool, both, { signal, onProgress: (rewrapped) => progress.push(rewrapped) })
  const meanwhile = await Promise.all([running.named(['user:x']), running.load(made.map(({ id }) => id)), rotating])
  t.match(meanwhile[2], { isComplete: true })
  t.same(progress.slice(0, 2), [1, 1_001])
  // The running process still wraps with the other one.
  await rotateKeys(pool, both, { signal })
  t.same(await countOutdated(pool, both), 0)
  t.same(await rotateKeys(pool, both, { signal }), { rewrapped: 0, isComplete: true })
  const afterwards = await start({ masterKeys: [both[0]] })
  t.same((await afterwards.named(names)).slice(1), made.slice(1))
  t.same(await afterwards.named(['user:x']), meanwhile[0])
  t.equal(afterwards.known(made[0]?.id ?? ''), undefined)
  await afterwards.load([made[0]?.id ?? ''])
  t.equal(afterwards.known(made[0]?.id ?? ''), null, 'a destroyed key stays destroyed')
})

t.test('an interrupted rotation goes on where it ended', async (t) => {
  const { start, pool, masterKeys: old } = await keysHarness(t)
  const both = [newMasterKeys()[0], old[0]] as const
  await (await start()).named(Array.from({ length: 1_500 }, (_, index) => `user:${index}`))
  const interruption = new AbortController()
  const onProgress = (rewrapped: number) => {
    if (rewrapped > 1) interruption.abort()
  }
  t.same(await rotateKeys(pool, both, { signal: interruption.signal, onProgress }), {
    rewrapped: 1_001,
    isComplete: false,
  })
  t.equal(await countOutdated(pool, both), 500)
  const without = start({ masterKeys: [both[0]] })
  await t.rejects(without, /^PII_MASTER_KEY lacks master key \w{8}/, 'the other master key is still needed')
  t.same(await rotateKeys(pool, both, { signal }), { rewrapped: 500, isComplete: true })
  t.ok(await start({ masterKeys: [both[0]] }))
})

t.test('a key of a newer master key is service_unavailable in a process without it', async (t) => {
  const { start, masterKeys: old } = await keysHarness(t)
  const keys = await start()
  const newer = await start({ masterKeys: [newMasterKeys()[0], old[0]] })
  const [made] = await newer.named(['user:a'])
  const unavailable = { code: 'service_unavailable', cause: { name: 'MasterKeyError' } }
  await t.rejects(keys.named(['user:a']), unavailable)
  await t.rejects(keys.load([made?.id ?? '']), unavailable)
  t.equal(keys.known(made?.id ?? ''), undefined)
})
