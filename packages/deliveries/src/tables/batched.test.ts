import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { batched } from './batched.ts'

type Statement = { readonly items: readonly string[]; end(error?: Error): void }

/** Statements that end when the test says so; the answer to an item is the item in capitals. */
function database(limits: { mostTogether?: number; patienceMs?: number } = {}) {
  const statements: Statement[] = []
  const call = batched({
    run: (items: readonly string[]) =>
      new Promise<readonly string[]>((resolve, reject) => {
        const answers = items.map((item) => item.toUpperCase())
        statements.push({ items, end: (error) => (error === undefined ? resolve(answers) : reject(error)) })
      }),
    keyOf: (item) => item.slice(0, 1),
    maxBatch: 100,
    slowAfterMs: 60_000,
    ...limits,
  })
  return { statements, call, asked: () => statements.map(({ items }) => items) }
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve))
const nextTicks = async () => {
  for (let count = 0; count < 5; count++) await nextTick()
}
const failure = (code: string) => Object.assign(new Error(`refused with ${code}`), { code })

t.test('a call on an idle database goes in the same turn; those that come meanwhile go together', async (t) => {
  const { statements, call, asked } = database()
  const first = call('a')
  await nextTick()
  t.strictSame(asked(), [['a']])
  const others = [call('b'), call('c')]
  await nextTicks()
  others.push(call('d'))
  await nextTicks()
  t.equal(statements.length, 1)
  statements[0]?.end()
  t.equal(await first, 'A')
  await nextTicks()
  t.strictSame(asked().slice(1), [['b', 'c', 'd']])
  statements[1]?.end()
  t.strictSame(await Promise.all(others), ['B', 'C', 'D'])
  await nextTicks()
  t.equal(statements.length, 2)
})

t.test('calls of one turn share the first statement', async (t) => {
  const { statements, call, asked } = database()
  const calls = [call('a'), call('b')]
  await nextTick()
  t.strictSame(asked(), [['a', 'b']])
  statements[0]?.end()
  t.strictSame(await Promise.all(calls), ['A', 'B'])
})

t.test('no statement is larger than is allowed, and one is under way at a time', async (t) => {
  const { statements, call, asked } = database({ mostTogether: 2 })
  const calls = [...'abc'].map(call)
  await nextTicks()
  t.strictSame(asked(), [['a', 'b']])
  statements[0]?.end()
  await nextTicks()
  t.strictSame(asked().slice(1), [['c']])
  statements[1]?.end()
  t.strictSame(await Promise.all(calls), [...'ABC'])
})

t.test('a statement that does not come back does not hold up the others for long', async (t) => {
  const { statements, call, asked } = database({ patienceMs: 500 })
  const stuck = call('a1')
  await nextTicks()
  const others = [call('b'), call('a2')]
  await nextTicks()
  t.equal(statements.length, 1)
  await waitFor(() => statements.length === 2, { what: 'the next statement' })
  t.strictSame(asked()[1], ['b'], 'a key stays under way')
  const last = call('c')
  await nextTicks()
  statements[0]?.end()
  t.equal(await stuck, 'A1')
  await nextTicks()
  t.equal(statements.length, 2, 'its late end changes nothing about the one under way')
  statements[1]?.end()
  await nextTicks()
  t.strictSame(asked()[2], ['a2', 'c'])
  statements[2]?.end()
  t.strictSame(await Promise.all([...others, last]), ['B', 'A2', 'C'])
})

t.test('items of one key go one after the other, in their order', async (t) => {
  const { statements, call, asked } = database()
  const calls = [call('a1'), call('a2'), call('b1'), call('a3')]
  await nextTicks()
  t.strictSame(asked(), [['a1', 'b1']])
  statements[0]?.end()
  await nextTicks()
  t.strictSame(asked().slice(1), [['a2']])
  statements[1]?.end()
  await nextTicks()
  statements[2]?.end()
  t.strictSame(await Promise.all(calls), ['A1', 'A2', 'B1', 'A3'])
})

t.test('what one item spoils, the others do without it', async (t) => {
  const seen: string[][] = []
  const call = batched({
    async run(items: readonly string[]) {
      seen.push([...items])
      if (items.includes('bad')) throw failure('22P02')
      return items.map((item) => item.toUpperCase())
    },
    keyOf: (item) => item,
    maxBatch: 100,
    slowAfterMs: 60_000,
  })
  const results = await Promise.allSettled(['a', 'b', 'bad', 'c', 'd'].map(call))
  t.strictSame(
    results.map((result) => (result.status === 'fulfilled' ? result.value : 'refused')),
    ['A', 'B', 'refused', 'C', 'D'],
  )
  t.ok(seen.length <= 7, `${seen.length} statements`)
  t.equal(await call('e'), 'E')
})

t.test('a lost connection fails all at once, and the next call is made', async (t) => {
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
