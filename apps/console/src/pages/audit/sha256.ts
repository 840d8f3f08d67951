// SHA-256 of a stream, which WebCrypto cannot compute.
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

export function createSha256() {
  const hash = sha256.create()
  return {
    update: (bytes: Uint8Array) => void hash.update(bytes),
    /** In hex, of everything that was added. */
    digest: () => bytesToHex(hash.clone().digest()),
  }
}
