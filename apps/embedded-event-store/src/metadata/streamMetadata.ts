// Parses stream metadata the way EventStoreDB does.
import { deletedRevision } from '../storage/storedEvent.ts'

declare global {
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

export type StreamMetadata = {
  readonly maxCount?: bigint
  readonly maxAgeSeconds?: bigint
  readonly truncateBefore?: bigint
}

export const noMetadata: StreamMetadata = {}
/** A metastream keeps one event, regardless of its own metadata. */
export const metastreamMetadata: StreamMetadata = { maxCount: 1n }

export function isMetastream(stream: string): boolean {
  return stream.startsWith('$$')
}

export function metastreamOf(stream: string): string {
  return `$$${stream}`
}

export function originalOf(metastream: string): string {
  return metastream.slice(2)
}

export function isSoftDeleted(metadata: StreamMetadata): boolean {
  return metadata.truncateBefore === deletedRevision
}

/**
 * Parses the last event of a metastream. A value of the wrong type invalidates all of it; a number out of range ($maxCount
 * or $maxAge of 0 or below, $tb below 0) is ignored.
 */
export function parseStreamMetadata(json: Uint8Array): StreamMetadata {
  const document = parseKeepingNumbers(json)
  if (document === undefined) return noMetadata
  const maxCount = integer(document.$maxCount)
  const maxAge = seconds(document.$maxAge)
  const truncateBefore = integer(document.$tb)
  if (maxCount === 'invalid' || maxAge === 'invalid' || truncateBefore === 'invalid') return noMetadata
  if (!hasValidRest(document)) return noMetadata
  return {
    ...(maxCount !== undefined && maxCount > 0n ? { maxCount } : {}),
    ...(maxAge !== undefined && maxAge > 0n ? { maxAgeSeconds: maxAge } : {}),
    ...(truncateBefore !== undefined && truncateBefore >= 0n ? { truncateBefore } : {}),
  }
}

/** Checks fields that this server does not use, but that invalidate the metadata in EventStoreDB. */
function hasValidRest({ $tmp, $cacheControl, $acl }: MetadataDocument): boolean {
  if ($tmp !== undefined && typeof $tmp !== 'boolean') return false
  return seconds($cacheControl) !== 'invalid' && ($acl === undefined || isAccessList($acl))
}

const accessRights = new Set(['$r', '$w', '$d', '$mr', '$mw'])

function isAccessList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || JSON.isRawJSON(value)) return false
  return Object.entries(value).every(([right, roles]) => {
    if (!accessRights.has(right)) return false
    return typeof roles === 'string' || (Array.isArray(roles) && roles.every((role) => typeof role === 'string'))
  })
}

/** Sets `$tb` and keeps all other keys and numbers as written; undefined when the metadata is not a JSON object. */
export function withTruncateBefore(json: Uint8Array, truncateBefore: bigint): Buffer | undefined {
  const document = parseKeepingNumbers(json)
  if (document === undefined) return undefined
  document.$tb = JSON.rawJSON(String(truncateBefore))
  return Buffer.from(JSON.stringify(document))
}

export const softDeletedMetadata = Buffer.from(`{"$tb":${deletedRevision}}`)

type MetadataDocument = {
  [key: string]: unknown
  $maxCount?: unknown
  $maxAge?: unknown
  $tb?: unknown
  $tmp?: unknown
  $cacheControl?: unknown
  $acl?: unknown
}

const byteOrderMark = /^\uFEFF/

/** Numbers stay as their source text, because `$tb` may be 2^63-1, which a double cannot hold. */
function parseKeepingNumbers(json: Uint8Array): MetadataDocument | undefined {
  const keepSource = (_key: string, value: unknown, ...rest: unknown[]) => {
    if (typeof value !== 'number') return value
    const context = rest[0]
    const hasSource = typeof context === 'object' && context !== null && 'source' in context
    return hasSource && typeof context.source === 'string' ? JSON.rawJSON(context.source) : value
  }
  try {
    const document: unknown = JSON.parse(Buffer.from(json).toString('utf8').replace(byteOrderMark, ''), keepSource)
    if (typeof document !== 'object' || document === null || Array.isArray(document)) return undefined
    return Object.fromEntries(Object.entries(document))
  } catch {
    return undefined
  }
}

/** A signed 64-bit integer. */
function integer(value: unknown): bigint | undefined | 'invalid' {
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || !('rawJSON' in value)) return 'invalid'
  const source = String(value.rawJSON)
  if (!/^-?\d+$/.test(source)) return 'invalid'
  const parsed = BigInt(source)
  return BigInt.asIntN(64, parsed) === parsed ? parsed : 'invalid'
}

/** The longest .NET time span, which counts units of 100 ns. */
const maxSeconds = deletedRevision / 10_000_000n

function seconds(value: unknown): bigint | undefined | 'invalid' {
  const parsed = integer(value)
  return typeof parsed === 'bigint' && (parsed > maxSeconds || parsed < -maxSeconds) ? 'invalid' : parsed
}
