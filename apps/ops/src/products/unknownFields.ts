// The fields of a line that no product has: mostly typing mistakes.
import { NewProduct } from '@paylog/domain/products/content'
import { ProductResource } from '@paylog/domain/products/resource'

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
