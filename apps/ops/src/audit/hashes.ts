// The hashes of a proof, as files have them.
import { ProofError } from '@paylog/audit-log/proofs'
import { hashBytes } from '@paylog/audit-log/tree'

export const encodedHashes = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'))

/** @throws ProofError for a text that is no hash */
export function decodedHashes(hashes: readonly string[]): readonly Buffer[] {
  return hashes.map((text) => {
    const hash = Buffer.from(text, 'base64')
    if (hash.length === hashBytes && hash.toString('base64') === text) return hash
    throw new ProofError('The proof has a hash that is none')
  })
}

/** @returns why a proof is wrong; undefined when it is right @param verify throws ProofError for a wrong one */
export function problemOf(verify: () => void): string | undefined {
  try {
    verify()
    return undefined
  } catch (error) {
    if (error instanceof ProofError) return error.message
    throw error
  }
}
