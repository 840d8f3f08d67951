// The fields of a line that no product has: mostly typing mistakes.

import { findCardData } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import { Id, Nullable } from '@paylog/domain/fields'
import { NewProduct, newContent } from '@paylog/domain/products/content'
import { type ProductContent, productContentOf } from '@paylog/domain/products/events'
import { ProductResource } from '@paylog/domain/products/product'
import { parseStrictJson } from '@paylog/runtime/http/body'
import { bodyReader } from '@paylog/runtime/http/validation'
import { Type } from 'typebox'
import { v5 as uuidv5 } from 'uuid'

export type UnknownFields = {
  /** The first few whose names are plain words; nothing else of a line is ever told. */
  readonly names: readonly string[]
  /** How many there are besides. */
  readonly more: number
}

const maxNames = 5
const plainWord = /^[A-Za-z][\w-]{0,39}$/

/** What an answer of the API has and a line has not, such as `created_at`, is no mistake: answers are imported elsewhere. */
const known = new Set(Object.keys({ ...NewProduct.properties, ...ProductResource.properties }))

export function unknownFields(value: object): UnknownFields | undefined {
  const unknown = Object.keys(value).filter((name) => !known.has(name))
  if (unknown.length === 0) return undefined
  const names = unknown.filter((name) => plainWord.test(name)).slice(0, maxNames)
  return { names, more: unknown.length - names.length }
}

// One line of an import: the product that it tells of, or why it tells of none.

export type ProductLine = {
  readonly product_id: string
  /** The line names the product, and so may change it; else it only ever adds it. */
  readonly is_named: boolean
  readonly content: ProductContent
  /** `undefined` where the line does not say it. */
  readonly is_active: boolean | undefined
}

/** The limit that a body of the HTTP API has. */
export const maxLineBytes = 256 * 1024

/** Names the ids that are derived; a changed value would add everything that was imported once more. */
const namespace = '3e5b0a52-7c1d-5b8e-8f43-90c2a6d7e514'

const readBody = bodyReader(Type.Object({ ...NewProduct.properties, id: Type.Optional(Nullable(Id)) }))

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * @param bytes `null` for a line that is too long
 * @returns `null` for an empty line
 * @throws DomainError `invalid_request`, `card_number_rejected`, `body_too_large`; no message repeats what the line says
 */
export function parseLine(bytes: Buffer | null): object | null {
  if (bytes === null) throw new DomainError('body_too_large', `The line is longer than ${maxLineBytes} bytes`)
  const text = decode(bytes)
  if (/^[\t\r ]*$/.test(text)) return null
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DomainError('invalid_request', 'The line is not a JSON object')
  const card = findCardData(value)
  if (card !== null) throw new DomainError('card_number_rejected', `The line ${card.message}`)
  return value
}

/**
 * @throws DomainError `invalid_request` with `details.fields`, `amount_inconsistent` with the amounts as its details; no
 *   message repeats what the line says
 */
export function readProduct(value: object): ProductLine {
  const { id = null, is_active, ...fields } = readBody(value)
  const content = newContent(fields)
  return { product_id: id?.toLowerCase() ?? derivedId(content), is_named: id !== null, content, is_active }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new DomainError('invalid_request', 'The line is not valid UTF-8', undefined, { cause })
  }
}

function parse(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // The parser takes every text for a body.
    const message = error.message.replace(/\b(the) body\b/i, '$1 line')
    throw new DomainError(error.code, message, undefined, { cause: error })
  }
}

/** The same for the same content, however the line writes it: what was imported is found again. */
function derivedId(content: ProductContent): string {
  return uuidv5(JSON.stringify(productContentOf(content)), namespace)
}
