// Seals the marked fields of an event, and opens them again. One sealed text for each part of an event: the fields' values as
// JSON, encrypted with AES-256-GCM and bound to the event, so that it cannot be moved to another one.
import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type SealedPart, sealedKeyword, sealedParts } from '@paylog/domain/personalData'
import type { TSchema } from 'typebox'
import type { DataKey } from './dataKeys.ts'

/** A field of an event's data, such as `payer.email`. */
export type SealedField = {
  readonly path: readonly string[]
  readonly part: SealedPart
  /** Whether the field may be absent. */
  readonly isOptional: boolean
}

/** The sealed parts of a stored event. */
const sealedProperty = '$sealed'

/** `text`: base64 of nonce, ciphertext and tag. All keys are needed to open it. */
type SealedText = { readonly keys: readonly string[]; readonly text: string }
type Fields = Record<string, unknown>

/** The event that a sealed text belongs to. `type` is the stored type. */
export type EventIdentity = { readonly stream: string; readonly id: string; readonly type: string }

/** Which keys each sealed part of an event needs; empty for an event without sealed parts. */
export type SealedKeys = Readonly<Partial<Record<SealedPart, readonly string[]>>>

/** As `DataKeys.known`, for a key of a part: null too when the part is not needed. */
export type KnownKeys = (id: string, part: SealedPart) => KeyObject | null | undefined

/** A key of a sealed part must be loaded before the event can be decoded. */
export class KeysNeededError extends Error {
  override readonly name = 'KeysNeededError'
}

/** A sealed text was changed, or belongs to another event. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError'
}

/** The fields that a schema marks as sealed. */
export function sealedFieldsOf(
  schema: TSchema,
  path: readonly string[] = [],
  isOptional = false,
): readonly SealedField[] {
  const {
    [sealedKeyword]: part,
    properties,
    required,
  } = schema as TSchema & {
    readonly [sealedKeyword]?: SealedPart
    readonly properties?: Readonly<Record<string, TSchema>>
    readonly required?: readonly string[]
  }
  if (part !== undefined) return [{ path, part, isOptional }]
  return Object.entries(properties ?? {}).flatMap(([name, field]) =>
    sealedFieldsOf(field, [...path, name], isOptional || !required?.includes(name)),
  )
}

/** Null is the same as no value, except where the field could be absent as well. */
const isSealed = ({ isOptional }: SealedField, value: unknown) => value !== undefined && (value !== null || isOptional)

/** What of an event is sealed. */
export type Sealable = {
  readonly fields: readonly SealedField[]
  /** The parts that are sealed without values too. */
  readonly always: readonly SealedPart[]
}

/** The parts of an event that are sealed. */
export function partsIn({ fields, always }: Sealable, data: object): readonly SealedPart[] {
  const found = new Set<SealedPart>(always)
  for (const field of fields) if (isSealed(field, valueAt(data, field.path))) found.add(field.part)
  return [...found]
}

/** The data with null in the fields of these parts, as after the destruction of their keys. Such optional fields are undefined. */
export function withoutParts(fields: readonly SealedField[], data: object, parts: readonly SealedPart[]): object {
  const left: Fields = { ...data }
  for (const { path, part, isOptional } of fields) {
    if (!parts.includes(part) || valueAt(data, path) === undefined) continue
    hide(left, data, path)
    if (!isOptional) put(left, path, null)
  }
  return left
}

/**
 * The data as it is stored: with a sealed text for each part that has values, and with its sealed fields undefined, so that JSON
 * has none of them.
 * @param keysOf the keys of each part
 */
export function seal(
  { fields, always }: Sealable,
  data: object,
  keysOf: (part: SealedPart) => readonly DataKey[],
  event: EventIdentity,
): object {
  if (fields.length === 0) return data
  const open: Fields = { ...data }
  const parts: Partial<Record<SealedPart, Fields>> = Object.fromEntries(always.map((part) => [part, {}]))
  for (const field of fields) {
    const { path, part } = field
    const value = valueAt(data, path)
    if (value === undefined) continue
    hide(open, data, path)
    if (!isSealed(field, value)) continue
    parts[part] ??= {}
    put(parts[part], path, value)
  }
  const sealed = Object.entries(parts).map(([part, values]) => {
    const keys = keysOf(part as SealedPart)
    const key = combined(keys.map(({ key }) => key))
    const text = encrypt(JSON.stringify(values), key, associatedData(event, part as SealedPart))
    return [part, { keys: keys.map(({ id }) => id), text } satisfies SealedText] as const
  })
  if (sealed.length > 0) open[sealedProperty] = Object.fromEntries(sealed)
  return open
}

/**
 * The data with its sealed fields: null for those without a value or whose key was destroyed. Such optional fields are absent.
 * @param data as stored
 * @throws KeysNeededError for a key that has not been loaded; SealBrokenError
 */
export function unseal(
  fields: readonly SealedField[],
  data: unknown,
  known: KnownKeys,
  event: EventIdentity,
): { readonly data: unknown; readonly sealed: SealedKeys } {
  if (fields.length === 0 || !isObject(data)) return { data, sealed: {} }
  const { [sealedProperty]: stored, ...opened } = data
  const sealed: Partial<Record<SealedPart, readonly string[]>> = {}
  for (const [part, text] of Object.entries(isObject(stored) ? stored : {})) {
    if (!isPart(part) || !isSealedText(text)) throw new SealBrokenError(`has a sealed part ${part} that is not valid`)
    sealed[part] = text.keys
    const values = openedPart(part, text, known, event)
    if (values !== null) merge(opened, values)
  }
  for (const { path, isOptional } of fields)
    if (!isOptional && valueAt(opened, path) === undefined) put(opened, path, null)
  return { data: opened, sealed }
}

/** The ids of the keys that an event's data names. */
export function keyIdsIn(data: unknown): readonly string[] {
  const stored = isObject(data) ? data[sealedProperty] : undefined
  return isObject(stored) ? Object.values(stored).flatMap((text) => (isSealedText(text) ? text.keys : [])) : []
}

/** @returns null when a key was destroyed */
function openedPart(part: SealedPart, { keys, text }: SealedText, known: KnownKeys, event: EventIdentity) {
  const all = keys.map((id) => known(id, part))
  if (all.includes(undefined)) throw new KeysNeededError()
  const present = all.filter((key) => key instanceof Object)
  if (present.length < keys.length) return null
  try {
    const values: unknown = JSON.parse(
      decrypt(Buffer.from(text, 'base64'), combined(present), associatedData(event, part)).toString(),
    )
    return isObject(values) ? values : null
  } catch (cause) {
    throw new SealBrokenError(`has a sealed part ${part} that cannot be opened`, { cause })
  }
}

const isPart = (part: string): part is SealedPart => sealedParts.some((known) => known === part)

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSealedText = (value: unknown): value is SealedText =>
  isObject(value) &&
  typeof value.text === 'string' &&
  Array.isArray(value.keys) &&
  value.keys.length > 0 &&
  value.keys.every((id) => typeof id === 'string')

function valueAt(data: object, path: readonly string[]): unknown {
  let value: unknown = data
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return value
}

/** Sets a field of a copy to undefined, and copies the objects that it is in. */
function hide(copy: Fields, original: object, path: readonly string[]): void {
  let [into, from] = [copy, original as Fields]
  for (const name of path.slice(0, -1)) {
    const value = from[name] as Fields
    if (into[name] === value) into[name] = { ...value }
    into = into[name] as Fields
    from = value
  }
  into[path.at(-1) ?? ''] = undefined
}

/** Sets a field, and makes the objects that it is in. */
function put(data: Fields, path: readonly string[], value: unknown): void {
  let into = data
  for (const name of path.slice(0, -1)) {
    if (!isObject(into[name])) into[name] = {}
    into = into[name] as Fields
  }
  into[path.at(-1) ?? ''] = value
}

function merge(into: Fields, from: Fields): void {
  for (const [name, value] of Object.entries(from)) {
    const present = into[name]
    if (isObject(value) && isObject(present)) merge(present, value)
    else into[name] = value
  }
}

const associatedData = ({ stream, id, type }: EventIdentity, part: SealedPart) =>
  Buffer.from(JSON.stringify([stream, id, type, part]))

/** Combined keys, for as long as both of their parts are in use. */
const combinations = new WeakMap<KeyObject, WeakMap<KeyObject, KeyObject>>()

/** With several keys all are needed, so destroying one of them is enough. */
function combined([first, ...others]: readonly KeyObject[]): KeyObject {
  if (first === undefined) throw new Error('A sealed part needs a key')
  return others.reduce(combinedTwo, first)
}

function combinedTwo(one: KeyObject, other: KeyObject): KeyObject {
  const known = combinations.get(one) ?? new WeakMap<KeyObject, KeyObject>()
  combinations.set(one, known)
  const key =
    known.get(other) ?? createSecretKey(createHash('sha256').update(one.export()).update(other.export()).digest())
  known.set(other, key)
  return key
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
/** A long text is compressed, because base64 adds a third and an append has a maximum size. */
const compressedFrom = 16_384
/** What the first byte says of the rest. */
const plain = '\0'
const gzip = '\u0001'

/** Random nonces, made many at a time: a call for each took a quarter of the time of sealing. */
const nextNonce = (() => {
  let made = Buffer.alloc(0)
  return (): Buffer => {
    if (made.length === 0) made = randomBytes(256 * nonceBytes)
    const nonce = made.subarray(0, nonceBytes)
    made = made.subarray(nonceBytes)
    return nonce
  }
})()

function encrypt(content: string, key: KeyObject, associated: Buffer): string {
  const nonce = nextNonce()
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(associated)
  const parts =
    content.length < compressedFrom
      ? [nonce, cipher.update(plain + content, 'utf8')]
      : [nonce, cipher.update(gzip, 'latin1'), cipher.update(gzipSync(content))]
  cipher.final()
  return Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64')
}

/** @throws when it was not encrypted with this key and data */
function decrypt(sealed: Buffer, key: KeyObject, associated: Buffer): Buffer {
  const tagAt = sealed.length - tagBytes
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes)).setAAD(associated)
  decipher.setAuthTag(sealed.subarray(tagAt))
  const content = decipher.update(sealed.subarray(nonceBytes, tagAt))
  decipher.final()
  return content[0] === gzip.charCodeAt(0) ? gunzipSync(content.subarray(1)) : content.subarray(1)
}
