// Parses and validates one line of an import.
import { findCardData } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import { Id, Nullable } from '@paylog/domain/fields'
import { NewProduct, newContent } from '@paylog/domain/products/content'
import { type ProductContent, productContentOf } from '@paylog/domain/products/events'
import { ProductResource } from '@paylog/domain/products/product'
import { parseStrictJson } from '@paylog/runtime/http/body'
import { unchangeable } from '@paylog/runtime/http/unknownFields'
import { bodyReader } from '@paylog/runtime/http/validation'
import { Type } from 'typebox'
import { v5 as uuidv5 } from 'uuid'

export type ProductLine = {
  readonly product_id: string
  /** Whether the line has an id, and so may update the product. Without an id it can only create one. */
  readonly is_named: boolean
  readonly content: ProductContent
  /** Undefined when the line does not set it. */
  readonly is_active: boolean | undefined
}

/** The limit of the HTTP API for bodies. */
export const maxLineBytes = 256 * 1024

/** For derived ids. Changing it would create every imported product again. */
const namespace = '3e5b0a52-7c1d-5b8e-8f43-90c2a6d7e514'

const fields = { ...NewProduct.properties, id: Type.Optional(Nullable(Id)) }
const readBody = bodyReader(Type.Object({ ...fields, ...unchangeable(fields, ProductResource) }))

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * @param bytes `null` for a line that is too long
 * @returns `null` for an empty line
 * @throws DomainError, without content of the line: `invalid_request`, perhaps with `details.fields`, `card_number_rejected`,
 *   `body_too_large`, `amount_inconsistent` with the amounts
 */
export function readProductLine(bytes: Uint8Array | null): ProductLine | null {
  if (bytes === null) throw new DomainError('body_too_large', `The line is longer than ${maxLineBytes} bytes`)
  const text = decode(bytes)
  if (/^[\t\r ]*$/.test(text)) return null
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DomainError('invalid_request', 'The line is not a JSON object')
  const card = findCardData(value)
  if (card !== null) throw new DomainError('card_number_rejected', `The line ${card.message}`)
  const { id = null, is_active, ...fields } = readBody(value)
  const content = newContent(fields)
  return { product_id: id?.toLowerCase() ?? derivedId(content), is_named: id !== null, content, is_active }
}

function decode(bytes: Uint8Array): string {
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
    // The parser's messages name a body.
    const message = error.message.replace(/\b(the) body\b/i, '$1 line')
    throw new DomainError(error.code, message, undefined, { cause: error })
  }
}

/** The same id for the same content, so that a repeated import finds the product. */
function derivedId(content: ProductContent): string {
  return uuidv5(JSON.stringify(productContentOf(content)), namespace)
}
