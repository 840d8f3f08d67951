// Runs `products import` on a real log.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { existingProduct, type Product, productFold } from '@paylog/domain/products/product'
import { productStream } from '@paylog/event-store/streamName'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { opsHarness } from './opsHarness.ts'
import { runOps } from './runOps.ts'

export const mug = { name: 'Mug', product_type: 'physical', currency: 'EUR', total_cents: 1250 }

/** A valid line with its own id. */
export const someLine = (wanted: object = {}) => JSON.stringify({ ...mug, id: randomUUID(), ...wanted })

export async function importHarness(t: Test) {
  const harness = await opsHarness(t)
  const { eventStore: log, store, env } = harness

  function file(content: string | Buffer): string {
    const path = harness.newPath()
    writeFileSync(path, content)
    return path
  }
  const events = () => Array.fromAsync(store.readLog({ prefixes: ['product-'] }))
  return {
    log,
    store,
    env,
    file,
    start: (path: string, { input, nodeOptions }: { input?: Readable; nodeOptions?: string } = {}) =>
      harness.start(
        ['products', 'import', path],
        nodeOptions === undefined ? {} : { NODE_OPTIONS: nodeOptions },
        input,
      ),
    run: (lines: readonly string[], ...flags: string[]) =>
      harness.run(['products', 'import', file(lines.map((line) => `${line}\n`).join('')), ...flags]),
    /** Of all products, in the order of the log. */
    events,
    /** The event types of one product. */
    history: async (id: string) => (await store.readStream(productStream(id))).map(({ type }) => type),
    product: async (id: string): Promise<Product> =>
      existingProduct((await store.load(productStream(id), productFold)).state),
    /** How often each product was created. */
    async additions(): Promise<Map<string, number>> {
      const times = new Map<string, number>()
      for (const { type, data } of await events()) {
        if (type === 'ProductAdded') times.set(data.product_id, (times.get(data.product_id) ?? 0) + 1)
      }
      return times
    },
  }
}

/** Valid lines with one invalid in the middle, which is reported when all before it are done. */
function halfwayLines(size: number): string {
  const lines = Array.from({ length: size }, (_, number) => someLine({ name: `Product ${number}` }))
  lines.splice(size / 2, 0, '{')
  return lines.map((line) => `${line}\n`).join('')
}

/** Starts an import and waits until it is half way. @param size the number of products */
export async function startHalfwayImport(t: Test, size: number) {
  const harness = await importHarness(t)
  const path = harness.file(halfwayLines(size))
  const running = harness.start(path)
  await waitFor(() => running.output().includes(`line ${size / 2 + 1}: `), { what: 'the middle', timeoutMs: 30_000 })
  return { ...harness, size, path, running }
}

type HalfwayImport = Awaited<ReturnType<typeof startHalfwayImport>>

/** Runs the import again and asserts that every product exists once. */
export async function assertCompletes(t: Test, { size, additions, env, path }: HalfwayImport) {
  const before = await additions()
  const { code, stdout } = await runOps(['products', 'import', path], env)
  t.match(
    { code, stdout },
    {
      code: 2,
      stdout: `${size + 1} lines: ${size - before.size} added, 0 changed, ${before.size} unchanged, 1 rejected.\n`,
    },
  )
  const after = await additions()
  t.equal(after.size, size)
  t.same([...new Set(after.values())], [1], 'every product once')
}
