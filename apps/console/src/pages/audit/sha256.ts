// SHA-256 of a stream, which WebCrypto cannot compute.
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Hash } from '@paylog/event-store/export/exportLog'

export function createSha256(): Hash {
  const hash = sha256.create()
  return {
    update: (bytes: Uint8Array) => void hash.update(bytes),
    digest: () => bytesToHex(hash.digest()),
  }
}
