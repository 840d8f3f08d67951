// Stream metadata: how the server reads and changes its JSON.

export type Metadata = {
  readonly maxCount: bigint | undefined
  readonly maxAgeSeconds: bigint | undefined
  readonly truncateBefore: bigint | undefined
}

export const noMetadata: Metadata = { maxCount: undefined, maxAgeSeconds: undefined, truncateBefore: undefined }

const int64Limit = 2n ** 63n

/** Internal: one invalid property invalidates the whole metadata. */
class UnreadableMetadataError extends Error {
  override readonly name = 'UnreadableMetadataError'
}

/** Keeps integers as their source text, because JavaScript numbers are exact up to 2^53 only. */
type Value =
  | { readonly source: string }
  | string
  | boolean
  | null
  | readonly Value[]
  | { readonly [key: string]: Value }

/**
 * (`Data/StreamMetadata.cs: FromJsonReader`) A value that is not an object, or has a known property of a wrong type, is
 * not metadata. A count, an age or a bound out of range is ignored.
 */
export function parseMetadata(data: Buffer): Metadata {
  const object = objectIn(data)
  if (object === undefined) return noMetadata
  try {
    const maxCount = integer(object, '$maxCount')
    const maxAgeSeconds = integer(object, '$maxAge')
    const truncateBefore = integer(object, '$tb')
    integer(object, '$cacheControl')
    checkAcl(object.$acl)
    return {
      maxCount: maxCount !== undefined && maxCount > 0n ? maxCount : undefined,
      maxAgeSeconds: maxAgeSeconds !== undefined && maxAgeSeconds > 0n ? maxAgeSeconds : undefined,
      truncateBefore: truncateBefore !== undefined && truncateBefore >= 0n ? truncateBefore : undefined,
    }
  } catch (error) {
    if (error instanceof UnreadableMetadataError) return noMetadata
    throw error
  }
}

/** The same JSON with another `$tb`; undefined when it is not a JSON object. */
export function withTruncateBefore(data: Buffer, truncateBefore: bigint): Buffer | undefined {
  const object = objectIn(data)
  if (object === undefined) return undefined
  return Buffer.from(textOf({ ...object, $tb: { source: String(truncateBefore) } }))
}

function objectIn(data: Buffer): { readonly [key: string]: Value } | undefined {
  let value: Value
  try {
    value = JSON.parse(data.toString('utf8'), keepNumberText)
  } catch {
    return undefined
  }
  return isObject(value) && !isNumber(value) ? value : undefined
}

/** TypeScript's types lack the reviver's source text parameter. */
function keepNumberText(_name: string, value: Value, context?: { readonly source: string }): Value {
  return typeof value === 'number' && context !== undefined ? { source: context.source } : value
}

function isObject(value: Value): value is { readonly [key: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNumber(value: Value): value is { readonly source: string } {
  return isObject(value) && typeof value.source === 'string'
}

function integer(object: { readonly [key: string]: Value }, name: string): bigint | undefined {
  const value = object[name]
  if (value === undefined) return undefined
  if (!isNumber(value) || !/^-?\d+$/.test(value.source)) throw new UnreadableMetadataError()
  const found = BigInt(value.source)
  if (found >= int64Limit || found < -int64Limit) throw new UnreadableMetadataError()
  return found
}

const aclNames = ['$r', '$w', '$d', '$mr', '$mw']

function checkAcl(acl: Value | undefined): void {
  if (acl === undefined) return
  if (!isObject(acl) || isNumber(acl)) throw new UnreadableMetadataError()
  for (const [name, roles] of Object.entries(acl)) {
    const list = Array.isArray(roles) ? roles : [roles]
    if (!aclNames.includes(name) || list.some((role) => typeof role !== 'string')) throw new UnreadableMetadataError()
  }
}

function textOf(value: Value): string {
  if (isNumber(value)) return value.source
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${textOf(each)}`)
  return `{${members.join(',')}}`
}
