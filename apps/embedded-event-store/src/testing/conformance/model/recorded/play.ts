// Recorded scenarios, played through the model instead of against a server.
import { ranked } from '../../player/ranks.ts'
import type { RecordedResponse, Scenario, Step } from '../../player/scenario.ts'
import { emptyStore, type Store } from '../store.ts'
import { deliver, type Subscription, subscribe } from '../subscriptions.ts'
import { type Positions, playRead, subscriptionRequest, subscriptionResponse } from './reads.ts'
import { playAppend, playRemoval } from './writes.ts'

/** Undefined for steps that the model does not cover. */
type Played = { readonly response: RecordedResponse | undefined; readonly store: Store }

/** @returns one result per step, with positions as ranks; undefined for steps that the model does not cover */
export function playThroughModel(scenario: Scenario): (RecordedResponse | undefined)[] {
  let store = emptyStore
  const answers: (RecordedResponse | undefined)[] = []
  const positions: (number | undefined)[] = []
  for (const step of scenario.steps) {
    const played = play(store, step, positions)
    store = played.store
    answers.push(played.response)
    positions.push(positionIn(played.response))
  }
  const known = ranked(answers.map((response) => response ?? {}))
  return answers.map((response, index) => (response === undefined ? undefined : known[index]))
}

function play(store: Store, step: Step, positions: Positions): Played {
  switch (step.op) {
    case 'append':
      return playAppend(store, step)
    case 'meta': {
      const event = { id: step.id, type: '$metadata', data: step.value }
      return playAppend(store, {
        op: 'append',
        stream: `$$${step.stream}`,
        expect: step.expect ?? 'any',
        events: [event],
      })
    }
    case 'delete':
    case 'tombstone':
      return playRemoval(store, step)
    case 'read':
      return { response: playRead(store, step, positions), store }
    case 'subscribe': {
      let subscription: Subscription = subscribe(store, subscriptionRequest(step, positions))
      let after = store
      const during: RecordedResponse[] = []
      for (const each of step.during ?? []) {
        const played = play(after, each, positions)
        subscription = deliver(played.store, subscription, played.store.log.slice(after.log.length))
        after = played.store
        during.push(played.response ?? {})
      }
      return { response: subscriptionResponse(step, subscription, during), store: after }
    }
    case 'sleep':
      return { response: {}, store: { ...store, nowMs: store.nowMs + step.ms } }
  }
}

function positionIn(response: RecordedResponse | undefined): number | undefined {
  const at = /"position":\{"at":"(\d+)"\}/.exec(JSON.stringify(response?.ok ?? {}))?.[1]
  return at === undefined ? undefined : Number(at)
}
