// Fetches the proof of a payment, and waits for the log to sign the newest event.
import { exactApi } from '../../../api/api.ts'
import { statusOf } from '../../../api/apiErrors.ts'
import { pause } from '../../../api/pause.ts'
import { reasonHeader } from '../../../parts/reason.tsx'

export type ProofFile = { readonly name: string; readonly text: string }

/** A checkpoint is signed every minute. */
const maxWaitMs = 90_000
const pollMs = 2_000

/**
 * @param run `onProgress` is called with the reason why there is no proof yet
 * @returns the file, byte for byte as `ops audit check-proof` reads it
 * @throws PaylogError, of the last response when no checkpoint covers the newest event in time
 */
export async function fetchProof(
  id: string,
  reason: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (waitsFor: string) => void },
): Promise<ProofFile> {
  const giveUpAt = Date.now() + maxWaitMs
  for (;;) {
    try {
      const { body } = await exactApi.provePayment({ path: { id }, header: reasonHeader(reason), signal })
      return { name: `payment-${id}.proof.json`, text: `${JSON.stringify(body, null, 2)}\n` }
    } catch (error) {
      if (signal.aborted || statusOf(error) !== 404 || Date.now() >= giveUpAt) throw error
      onProgress(error instanceof Error ? error.message : '')
      await pause(pollMs, signal)
      signal.throwIfAborted()
    }
  }
}
