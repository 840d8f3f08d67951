// Imports lines, several at once, with the same result as one after the other.

import type { Workflow } from '@paylog/commands/context'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { ProductEvent } from '@paylog/domain/products/events'
import { addProduct, type ProductState, productFold, recordContent } from '@paylog/domain/products/product'
import type { Line } from '@paylog/event-store/export/lines'
import { productStream } from '@paylog/event-store/streamName'
import { pMapIterable } from 'p-map'
import { type ProductLine, readProductLine } from './productLine.ts'

export type ImportedLine = Pick<Line, 'end'> & {
  readonly line: number
  readonly outcome: 'added' | 'changed' | 'unchanged' | 'empty' | 'rejected'
  /** Of a rejected line. */
  readonly error?: DomainError
}

export type ImportLog = Pick<Workflow, 'store' | 'now'>

const maxConcurrent = 16

/**
 * Imports several lines at once, with the same result as one after the other.
 * @returns one result per line, in order
 * @throws DomainError `event_store_unavailable`, UnreadableEventError, and errors of reading the lines. All lines up to
 * the last result are then imported; the next few may or may not be.
 */
export function importLines(
  log: ImportLog,
  lines: AsyncIterable<Line>,
  metadata: EventMetadata,
): AsyncIterable<ImportedLine> {
  const inOrder = createKeyedQueue()
  return pMapIterable(
    lines,
    async ({ number: line, bytes, end }): Promise<ImportedLine> => {
      try {
        const product = readProductLine(bytes)
        if (product === null) return { line, end, outcome: 'empty' }
        const outcome = await inOrder(product.product_id, () => importProduct(log, product, metadata))
        return { line, end, outcome }
      } catch (error) {
        if (!(error instanceof DomainError) || error.code === 'event_store_unavailable') throw error
        return { line, end, outcome: 'rejected', error }
      }
    },
    { concurrency: maxConcurrent },
  )
}

/** Runs work with the same key one after the other. */
function createKeyedQueue() {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(key)
    const own = before === undefined ? work() : before.then(work, work)
    last.set(key, own)
    try {
      return await own
    } finally {
      if (last.get(key) === own) last.delete(key)
    }
  }
}

async function importProduct(
  { store, now }: ImportLog,
  line: ProductLine,
  metadata: EventMetadata,
): Promise<'added' | 'changed' | 'unchanged'> {
  const { events } = await store.handle({
    stream: productStream(line.product_id),
    fold: productFold,
    decide: (state) => decide(line, now().toISOString(), state),
    metadata,
  })
  if (events.length === 0) return 'unchanged'
  return events.some(({ type }) => type === 'ProductAdded') ? 'added' : 'changed'
}

function decide(line: ProductLine, occurred_at: string, state: ProductState): ProductEvent[] {
  const { product_id, is_named, content, is_active } = line
  if (state.status !== 'none' && is_named) return recordContent({ occurred_at, content, is_active }, state)
  const added = { product_id, occurred_at, ...content, is_active: is_active ?? true, request_fingerprint: null }
  return addProduct(added, state)
}
