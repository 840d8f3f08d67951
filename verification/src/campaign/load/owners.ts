// The callers of a campaign, their credentials at the demo identity backend, and the texts that only they may see.
import type { Owner } from '../judge/observations.ts'

export const credentials: Readonly<Record<Owner, Readonly<Record<string, string>>>> = {
  'user 1': { 'x-session-id': 'demo-session' },
  'user 2': { 'x-session-id': 'demo-session-2' },
  guest: { authorization: 'Token demo-guest-token' },
  anonymous: {},
  administrator: { 'x-session-id': 'demo-admin-session' },
}

export const guestEmail = 'guest@example.com'

/** The text that is in everything that an owner sends. */
export const canaryOf = (owner: Owner) => `canary-${owner.replace(' ', '-')}`

/** All texts that show to whom something belongs. Everybody has an e-mail, which nobody else may see either. */
const textsOf: readonly (readonly [Owner, readonly string[]])[] = [
  ['user 1', [canaryOf('user 1'), 'ada@example.com']],
  ['user 2', [canaryOf('user 2'), 'grace@example.com']],
  ['guest', [canaryOf('guest'), guestEmail]],
  ['anonymous', [canaryOf('anonymous')]],
]

/** @returns whose texts a response shows */
export function ownersIn(text: string): readonly Owner[] {
  return textsOf.filter(([, texts]) => texts.some((each) => text.includes(each))).map(([owner]) => owner)
}
