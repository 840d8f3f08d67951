import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { batched } from './batched.ts'

type Statement = { readonly items: readonly string[]; end(error?: Error): void }

/** Statements that end when the test decides. The result of an item is the item in capitals. */
function database(limits: { maxBatch?: number; slowAfterMs?: number } = {}) {
  const statements: Statement[] = []
  const call = batched({
    run: (items: readonly string[]) =>
      new Promise<readonly string[]>((resolve, reject) => {
        const results = items.map((item) => item.toUpperCase())
        statements.push({ items, end: (error) => (error === undefined ? resolve(results) : reject(error)) })
      }),
    maxBatch: 100,
    slowAfterMs: 60_000,
    ...limits,
  })
  return { statements, call, batches: () => statements.map(({ items }) => items) }
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve))
const nextTicks = async () => {
  for (let count = 0; count < 5; count++) await nextTick()
}
const failure = (code: string) => Object.assign(new Error(`failed with ${code}`), { code })

t.test('a call on an idle database runs at once, and calls during a statement share the next one', async (t) => {
  const { statements, call, batches } = database()
  const first = call('a')
  await nextTick()
  t.strictSame(batches(), [['a']])
  const others = [call('b'), call('c')]
  await nextTicks()
  others.push(call('d'))
  await nextTicks()
  t.equal(statements.length, 1)
  statements[0]?.end()
  t.equal(await first, 'A')
  await nextTicks()
  t.strictSame(batches().slice(1), [['b', 'c', 'd']])
  statements[1]?.end()
  t.strictSame(await Promise.all(others), ['B', 'C', 'D'])
  await nextTicks()
  t.equal(statements.length, 2)
})

t.test('calls in the same turn of the event loop share the first statement', async (t) => {
  const { statements, call, batches } = database()
  const calls = [call('a'), call('b')]
  await nextTick()
  t.strictSame(batches(), [['a', 'b']])
  statements[0]?.end()
  t.strictSame(await Promise.all(calls), ['A', 'B'])
})

t.test('batches respect the maximum size, and one runs at a time', async (t) => {
  const { statements, call, batches } = database({ maxBatch: 2 })
  const calls = [...'abc'].map(call)
  await nextTicks()
  t.strictSame(batches(), [['a', 'b']])
  statements[0]?.end()
  await nextTicks()
  t.strictSame(batches().slice(1), [['c']])
  statements[1]?.end()
  t.strictSame(await Promise.all(calls), [...'ABC'])
})

t.test('a statement that hangs delays the others only briefly', async (t) => {
  const { statements, call, batches } = database({ slowAfterMs: 500 })
  const stuck = call('a')
  await nextTicks()
  const others = [call('b')]
  await nextTicks()
  t.equal(statements.length, 1)
  await waitFor(() => statements.length === 2, { what: 'the next statement' })
  t.strictSame(batches()[1], ['b'])
  const last = call('c')
  await nextTicks()
  statements[0]?.end()
  t.equal(await stuck, 'A')
  await nextTicks()
  t.equal(statements.length, 2, 'the late end of the first statement starts no other')
  statements[1]?.end()
  await nextTicks()
  t.strictSame(batches()[2], ['c'])
  statements[2]?.end()
  t.strictSame(await Promise.all([...others, last]), ['B', 'C'])
})

t.test('a lost connection fails the whole batch, and the next call runs', async (t) => {
  const { statements, call } = database()
  const calls = [call('a'), call('b'), call('c')]
  await nextTick()
  statements[0]?.end(failure('ECONNRESET'))
  const results = await Promise.allSettled(calls)
  t.ok(results.every(({ status }) => status === 'rejected'))
  const next = call('d')
  await nextTicks()
  t.equal(statements.length, 2)
  statements[1]?.end()
  t.equal(await next, 'D')
})
