// A state in one word, with a colour that is never its only sign.

export type Tone = 'good' | 'busy' | 'bad' | 'warn' | 'quiet'

const tones: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  ready: 'good',
  active: 'good',
  enabled: 'good',
  won: 'good',
  created: 'good',
  updated: 'good',
  live: 'good',
  pending: 'busy',
  processing: 'busy',
  running: 'busy',
  held: 'warn',
  open: 'warn',
  stopping: 'warn',
  interrupted: 'warn',
  failed: 'bad',
  lost: 'bad',
  unavailable: 'bad',
  unreachable: 'bad',
}

/** @param props `tone` defaults to that of the word */
export function Badge({ text, tone }: { readonly text: string; readonly tone?: Tone | undefined }) {
  return (
    <span className="badge" data-tone={tone ?? tones[text] ?? 'quiet'}>
      {text.replaceAll('_', ' ')}
    </span>
  )
}
