// The keys of the parts of an event: which names they have, by whose data it is and by the day.

import type { SealedPart, Subject } from '@paylog/domain/personalData'
import type { Codec, Recorded } from './codec.ts'
import type { DataKey, DataKeys } from './dataKeys.ts'

type Keys = Pick<DataKeys, 'named' | 'seen' | 'load' | 'known'>

/** The ids of the keys of those whose data a stream holds; see `OwnerEvent`. */
export type OwnerKeys = { readonly subject?: string; readonly guest?: string }

/** The keys of those whose data is in a stream: those of its last owner event, or of what is sealed first after it. */
export function ownersOf(codec: Pick<Codec, 'isOwner'>, events: readonly Recorded[]): OwnerKeys {
  const last = events.findLastIndex(({ type }) => codec.isOwner(type))
  let owners: OwnerKeys = {}
  for (const { sealed } of last < 0 ? [] : events.slice(last)) {
    const { personal, guest, body, secret } = sealed
    // These have the key of a day as well, or instead.
    const dated = [body, secret].find((ids) => ids !== undefined && ids.length > 1)
    owners = { ...ownerKeys(personal?.[0] ?? guest?.[0] ?? dated?.[0], guest?.[1]), ...owners }
  }
  return owners
}

/** The calls of the event store that need nothing but the keys. */
export const keyCalls = (keys: DataKeys) => ({
  destroyKeys: (ids: readonly string[]) => keys.destroy(ids),
  async areErased(owners: OwnerKeys) {
    const ids = Object.values(owners)
    await keys.load(ids)
    return ids.some((id) => keys.known(id) === null)
  },
  keyOf: async (stream: string) => (await keys.named([keyOfStream(stream)]))[0]?.id,
  hash: (text: string) => keys.hash(text).toString('hex'),
})

export const ownerKeys = (subject: string | undefined, guest: string | undefined): OwnerKeys => ({
  ...(subject !== undefined && { subject }),
  ...(guest !== undefined && { guest }),
})

/** Where events are appended, and whose data they hold if that is known. */
type Place = { readonly stream: string; readonly subject: Subject | null; readonly owners: OwnerKeys }

/** A key by its name, which is made if there is none, or by its id. */
type KeyRef = { readonly name: string } | { readonly id: string }

/**
 * Makes the keys available that some parts are sealed with.
 * @returns null for a part of which a key was destroyed
 * @throws DomainError `service_unavailable`
 */
export async function keysForParts(
  keys: Keys,
  parts: ReadonlySet<SealedPart>,
  place: Place,
): Promise<ReadonlyMap<SealedPart, readonly DataKey[] | null>> {
  const { subject } = place
  const day = new Date().toISOString().slice(0, 10)
  const refsOf = new Map([...parts].map((part) => [part, keyRefs(part, place, day)]))
  const refs = [...refsOf.values()].flat()
  const names = [...new Set(refs.flatMap((ref) => ('name' in ref ? [ref.name] : [])))]
  const ids = refs.flatMap((ref) => ('id' in ref ? [ref.id] : []))
  if (subject !== null && subject.email !== null && names.includes(subject.name))
    await keys.seen(subject.name, subject.email)
  if (ids.length > 0) await keys.load(ids)
  const found = names.length === 0 ? [] : await keys.named(names)
  const byName = new Map(names.map((name, index) => [name, found[index]]))
  const keyOf = (ref: KeyRef) => ('name' in ref ? byName.get(ref.name) : keyById(keys, ref.id))
  return new Map(
    [...refsOf].map(([part, refs]) => {
      const all = refs.map(keyOf)
      const present = all.filter((key) => key !== undefined)
      return [part, present.length < all.length ? null : present]
    }),
  )
}

function keyById(keys: Keys, id: string): DataKey | undefined {
  const key = keys.known(id)
  return key ? { id, key } : undefined
}

function keyRefs(part: SealedPart, { stream, subject, owners }: Place, day: string): readonly KeyRef[] {
  const own = keyRef(owners.subject, subject?.name)
  const guest = keyRef(owners.guest, subject?.guest)
  if (part === 'body') return [...own, ...guest, { name: `body:${day}` }]
  if (part === 'secret') return [...own, { name: `secret:${day}` }]
  if (own.length === 0) return [{ name: keyOfStream(stream) }]
  return part === 'guest' ? [...own, ...guest] : own
}

function keyRef(id: string | undefined, name: string | null | undefined): readonly KeyRef[] {
  if (id !== undefined) return [{ id }]
  return name ? [{ name }] : []
}

/** The name of the key of a stream that belongs to nobody: `address:<id>`. */
export const keyOfStream = (stream: string) => stream.replace('-', ':')
