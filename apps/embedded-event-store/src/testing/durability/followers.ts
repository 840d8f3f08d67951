// Subscribers that follow the log and resume after every interruption.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AllStreamSubscription,
  type EventStoreDBClient,
  type ResolvedEvent,
  START,
  type StreamSubscription,
  streamNameFilter,
} from '@eventstore/db-client'

export type Follower = {
  readonly name: string
  /** Ids in order of arrival. */
  readonly seen: readonly string[]
  stop(): Promise<void>
}

type Source = { readonly client: EventStoreDBClient; readonly untilUp: () => Promise<void> }
type Subscription = AllStreamSubscription | StreamSubscription

const repeatPauseMs = 10

/** Follows all streams. */
export function followAll(source: Source): Follower {
  let last: { commit: bigint; prepare: bigint } | undefined
  return follow(source, 'everything', {
    subscribe: () => source.client.subscribeToAll({ fromPosition: last ?? START }),
    passed({ event }) {
      if (event) last = event.position
    },
  })
}

/** Follows the streams with a prefix, and also resumes from checkpoints. */
export function followPrefix(source: Source, prefix: string): Follower {
  let last: { commit: bigint; prepare: bigint } | undefined
  return follow(source, `prefix ${prefix}`, {
    subscribe() {
      const subscription = source.client.subscribeToAll({
        fromPosition: last ?? START,
        filter: streamNameFilter({
          prefixes: [prefix],
          checkpointInterval: 2,
          checkpointReached: async (_, position) => {
            // Earlier events may still be in the client's buffer, and would be lost.
            if (subscription.readableLength === 0 && !subscription.destroyed) last = position
          },
        }),
      })
      return subscription
    },
    passed({ event }) {
      if (event) last = event.position
    },
  })
}

export function followStream(source: Source, stream: string): Follower {
  let last: bigint | undefined
  return follow(source, `stream ${stream}`, {
    subscribe: () => source.client.subscribeToStream(stream, { fromRevision: last ?? START }),
    passed({ event }) {
      if (event) last = event.revision
    },
  })
}

function follow(
  { untilUp }: Source,
  name: string,
  { subscribe, passed }: { subscribe(): Subscription; passed(event: ResolvedEvent): void },
): Follower {
  const seen: string[] = []
  const stopping = new AbortController()

  const followOnce = async () => {
    const subscription: Subscription = subscribe()
    const left = new AbortController()
    const leave = () => left.abort()
    subscription.on('error', leave).on('end', leave).on('close', leave)
    stopping.signal.addEventListener('abort', leave)
    subscription.on('data', (resolved: ResolvedEvent) => {
      if (left.signal.aborted || resolved.event === undefined) return
      seen.push(resolved.event.id)
      passed(resolved)
    })
    if (!left.signal.aborted && !stopping.signal.aborted) await once(left.signal, 'abort')
    stopping.signal.removeEventListener('abort', leave)
    left.abort()
    await subscription.unsubscribe().catch(() => undefined)
    subscription.destroy()
  }
  const run = async () => {
    while (!stopping.signal.aborted) {
      await untilUp()
      await followOnce()
      await sleep(repeatPauseMs)
    }
  }
  const done = run()
  done.catch(() => undefined)
  return {
    name,
    seen,
    async stop() {
      stopping.abort()
      await done
    },
  }
}
