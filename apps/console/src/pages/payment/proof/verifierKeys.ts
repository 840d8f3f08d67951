// The verifier keys that this browser trusts. They are public.
import { useState } from 'react'

const storageKey = 'paylog.verifier-keys'

type VerifierKeys = {
  readonly text: string
  /** Several while the log changes its key: separated by commas or lines. */
  readonly keys: readonly string[]
  readonly keep: (text: string) => void
}

export function useVerifierKeys(): VerifierKeys {
  const [text, setText] = useState(() => localStorage.getItem(storageKey) ?? '')
  return {
    text,
    keys: text.split(/[,\n]/).flatMap((part) => part.trim() || []),
    keep(entered) {
      localStorage.setItem(storageKey, entered.trim())
      setText(entered)
    },
  }
}
