// Steps that are valid in any state of a run, because the state is unknown when they are chosen.
import type { Filter } from './reads.ts'

/** An offset from the stream's last revision, or a named revision. */
export type ExpectedIntent = 'any' | 'no_stream' | 'stream_exists' | { readonly offset: number }

export type EventIntent = {
  readonly type: string
  readonly content: 'json' | 'binary' | 'large' | 'huge'
  readonly meta: boolean
}

export type Repetition =
  | 'the same'
  | 'a prefix'
  | 'a suffix'
  | 'extended'
  | 'reversed'
  | 'in another stream'
  | 'doubled'

export type Intent =
  | ({ readonly do: 'append'; readonly stream: string; readonly events: readonly EventIntent[] } & Sent)
  | ({ readonly do: 'repeat'; readonly back: number; readonly how: Repetition; readonly asBefore: boolean } & Sent)
  | ({ readonly do: 'link'; readonly targets: readonly LinkIntent[] } & Sent)
  | ({ readonly do: 'set metadata'; readonly stream: string; readonly values: readonly MetadataIntent[] } & Sent)
  | {
      readonly do: 'delete' | 'tombstone'
      readonly stream: string
      readonly expected: ExpectedIntent
    }
  | ({ readonly do: 'read stream'; readonly stream: string; readonly from: RevisionIntent } & Reading)
  | ({ readonly do: 'read log'; readonly from: PositionIntent; readonly filter: Filter | undefined } & Reading)
  | {
      readonly do: 'subscribe'
      readonly stream: string | undefined
      readonly revision: RevisionIntent
      readonly position: PositionIntent
      readonly links: boolean
      readonly filter: Filter | undefined
      readonly window: number | undefined
      readonly every: number
    }

type Sent = { readonly expected: ExpectedIntent; readonly via: 'batch' | 'unary'; readonly chunks: number }
type Reading = { readonly backwards: boolean; readonly count: number; readonly links: boolean }

export type LinkIntent = { readonly stream: string; readonly offset: number } | { readonly text: string }
export type MetadataIntent = {
  readonly properties: Readonly<Record<string, unknown>>
  /** In place of an absolute `$tb`. */
  readonly truncateAtLast: number | undefined
  readonly text: string | undefined
  readonly json: boolean
  readonly type: string
}
export type RevisionIntent = 'start' | 'end' | { readonly offset: number } | { readonly revision: number }
/** A share of the records so far. */
export type PositionIntent = 'start' | 'end' | { readonly share: number }
