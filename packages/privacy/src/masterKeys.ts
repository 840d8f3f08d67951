// The master keys, which wrap the keys in Postgres.
import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { listOf } from '@paylog/runtime/config/kinds'

export type MasterKey = {
  /** The first 8 hex digits of its SHA-256. Stored beside what it wraps. */
  readonly id: string
  /** Node needs several times as long to decrypt with bytes. */
  readonly key: KeyObject
}

/** The first wraps new keys; all of them open keys. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]]

export const masterKeyVariables = {
  PII_MASTER_KEY: listOf(isMasterKey, 'one or more keys of 32 bytes in base64, separated by commas'),
}

/** What `openssl rand -base64 32` prints. */
function isMasterKey(word: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(word)
}

/** @param words the decoded value of `PII_MASTER_KEY` */
export function masterKeysOf(words: readonly string[]): MasterKeys {
  const [first, ...others] = words.map(masterKeyOf)
  if (first === undefined) throw new MasterKeyError('PII_MASTER_KEY is required')
  return [first, ...others]
}

function masterKeyOf(word: string): MasterKey {
  const bytes = Buffer.from(word, 'base64')
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), key: createSecretKey(bytes) }
}

/** The master key is missing, wrong or lost. The message is one sentence for the operator. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/** Something secret as it is stored. */
export type WrappedSecret = { readonly id: string; readonly wrapped: Buffer; readonly master: string }

const cipher = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** @param id of its row, to which it is bound: moved to another row, it cannot be opened */
export function wrap([master]: MasterKeys, id: string, secret: Uint8Array): WrappedSecret {
  const iv = randomBytes(ivBytes)
  const encryption = createCipheriv(cipher, master.key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(id))
  const wrapped = Buffer.concat([iv, encryption.update(secret), encryption.final(), encryption.getAuthTag()])
  return { id, wrapped, master: master.id }
}

/** @throws MasterKeyError when none of the keys opens it */
export function unwrap(masterKeys: MasterKeys, { id, wrapped, master }: WrappedSecret): Buffer {
  const found = masterKeys.find((each) => each.id === master)
  if (found === undefined)
    throw new MasterKeyError(`PII_MASTER_KEY does not open the keys of personal data, which need master key ${master}`)
  const decryption = createDecipheriv(cipher, found.key, wrapped.subarray(0, ivBytes), { authTagLength: tagBytes })
  decryption.setAAD(Buffer.from(id)).setAuthTag(wrapped.subarray(-tagBytes))
  try {
    return Buffer.concat([decryption.update(wrapped.subarray(ivBytes, -tagBytes)), decryption.final()])
  } catch (error) {
    throw new MasterKeyError(`The row ${id} of the schema privacy is damaged: master key ${master} does not open it`, {
      cause: error,
    })
  }
}
