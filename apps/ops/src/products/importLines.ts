// Imports lines, several at once, with the same result as one after the other.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { ProductEvent } from '@paylog/domain/products/events'
import { addProduct, type ProductState, productFold, recordContent } from '@paylog/domain/products/product'
import { newStream } from '@paylog/event-store/eventStore'
import type { Line } from '@paylog/event-store/export/lines'
import { productStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'
import { pMapIterable } from 'p-map'
import { type ProductLine, parseLine, readProduct, type UnknownFields, unknownFields } from './productLine.ts'

export type ImportedLine = { readonly line: number; readonly end: number } & (
  | { readonly outcome: 'empty' }
  | (CheckedLine & {
      readonly outcome: 'added' | 'changed' | 'unchanged'
      /** As written in the line. */
      readonly id: string | undefined
    })
  | (CheckedLine & { readonly outcome: 'rejected'; readonly error: DomainError })
)

type CheckedLine = { readonly unknown: UnknownFields | undefined }

export type ImportLog = Pick<Workflow, 'store' | 'now'>

const maxConcurrent = 16

/**
 * @returns one result per line, in order
 * @throws DomainError `event_store_unavailable`, UnreadableEventError, and errors of reading the lines. All lines up to
 * the last result are then imported; the next few may or may not be.
 */
export function importLines(
  log: ImportLog,
  lines: AsyncIterable<Line>,
  metadata: EventMetadata,
): AsyncIterable<ImportedLine> {
  const enqueue = createKeyedQueue()
  /**
   * A line usually has the same outcome as the one before. The stream is read first only when the product probably
   * exists.
   */
  let isLikelyNew = true

  async function importOne(line: ProductLine) {
    const outcome = await importProduct(log, line, { metadata, isLikelyNew })
    isLikelyNew = outcome === 'added'
    return outcome
  }
  return pMapIterable(
    lines,
    async ({ number, bytes, end }): Promise<ImportedLine> => {
      const at = { line: number, end }
      let unknown: UnknownFields | undefined
      try {
        const value = parseLine(bytes)
        if (value === null) return { ...at, outcome: 'empty' }
        unknown = unknownFields(value)
        const line = readProduct(value)
        const id = line.is_named ? line.product_id : undefined
        return { ...at, unknown, id, outcome: await enqueue(line.product_id, () => importOne(line)) }
      } catch (error) {
        if (!(error instanceof DomainError) || error.code === 'event_store_unavailable') throw error
        return { ...at, unknown, outcome: 'rejected', error }
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
  { metadata, isLikelyNew }: { readonly metadata: EventMetadata; readonly isLikelyNew: boolean },
): Promise<'added' | 'changed' | 'unchanged'> {
  const { events } = await store.handle({
    stream: productStream(line.product_id),
    fold: productFold,
    decide: (state) => decide(line, now().toISOString(), state),
    metadata,
    ...(isLikelyNew && { known: newStream(productFold) }),
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
