// Cursors of lists: where the next page begins.
import { hash } from 'node:crypto'
import { Nullable, recordedId } from '@paylog/domain/fields'
import { Type } from 'typebox'
import { invalidInput } from './validation.ts'

/** The last row of a page, by its value in the order of the list: the next page begins after it. */
export type PagePosition = { readonly value: string | number; readonly id: string }

/** What a page depends on besides its position: the name of the list, its order and its filters. */
export type ListIdentity = readonly (string | boolean | undefined)[]
/** What the list is ordered by. */
export type OrderedValue = 'time' | 'integer' | 'text'

/** The query parameter. */
export const cursorParameter = Type.Optional(
  Type.String({
    maxLength: 4096,
    description:
      'meta.next_cursor of the previous page, with the same order and filters; takes precedence over page and offset. ' +
      'Every page takes the same time, and rows that are added or removed meanwhile do not shift the others',
  }),
)

/** In the `meta` of a list. */
export const NextCursor = Nullable(Type.String({ description: 'The cursor of the next page; null on the last page' }))

/** @returns an opaque text for clients, null without a position: the page is the last */
export function encodeCursor(list: ListIdentity, position: PagePosition | null): string | null {
  if (position === null) return null
  const { value, id } = position
  return Buffer.from(JSON.stringify([value, id, checksum(list, value, id)])).toString('base64url')
}

/** @throws DomainError `invalid_request` for a malformed cursor, and one of another list, order or filter */
export function decodeCursor(list: ListIdentity, ordered: OrderedValue, cursor: string): PagePosition {
  const [value, id, sum] = parsed(cursor)
  const isKnown = typeof id === 'string' && recordedId(id) === id && sum === checksum(list, value, id)
  if (isKnown && isOrdered[ordered](value)) return { value, id }
  throw invalidInput('querystring', [
    { field: 'cursor', message: 'must be from this list, with this order and filters' },
  ])
}

/** It is no secret: who may use the list may read all of it. */
function checksum(list: ListIdentity, value: unknown, id: string): string {
  return hash('sha256', JSON.stringify([list, value, id]), 'base64url').slice(0, 16)
}

function parsed(cursor: string): readonly unknown[] {
  try {
    const content: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(content) ? content : []
  } catch {
    return []
  }
}

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Postgres rejects other values. */
const isOrdered: Readonly<Record<OrderedValue, (value: unknown) => value is PagePosition['value']>> = {
  time: (value): value is string => typeof value === 'string' && isTime.test(value) && !Number.isNaN(Date.parse(value)),
  integer: (value): value is number => Number.isSafeInteger(value),
  text: (value): value is string => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
}
