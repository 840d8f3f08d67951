// What the overview says of the whole system, from what needs attention.
import type { LinkProps } from '@tanstack/react-router'
import type { AttentionItem } from '../../api/apiTypes.ts'
import type { Tone } from '../../parts/Badge.tsx'
import { parseSearch } from '../../search.ts'

/** What does not work while the item is there; the others ask for a look. */
const broken: readonly AttentionItem['code'][] = [
  'log_not_verified',
  'provider_refused',
  'read_model_stopped',
  'deliveries_late',
  'endpoint_failing',
  'endpoint_paused',
]

export const toneOf = ({ code }: Pick<AttentionItem, 'code'>): Tone => (broken.includes(code) ? 'bad' : 'warn')

/** What does not work comes before what needs a look; the API has each in the order of their urgency. */
export const worstFirst = <Item extends Pick<AttentionItem, 'code'>>(items: readonly Item[]): Item[] =>
  items.toSorted((a, b) => Number(toneOf(b) === 'bad') - Number(toneOf(a) === 'bad'))

export type StateSentence = { readonly tone: Tone; readonly text: string }

/** One sentence about everything. @param items of GET /admin/attention */
export function stateSentence(items: readonly Pick<AttentionItem, 'code'>[]): StateSentence {
  const unknown = items.filter(({ code }) => code === 'attention_unknown').length
  const failing = items.filter((item) => toneOf(item) === 'bad').length
  const looks = items.length - failing - unknown
  const more = unknown > 0 ? '; not everything could be checked' : ''
  if (failing > 0) return { tone: 'bad', text: `${things(failing)} not working${looksText(looks, ' more')}${more}` }
  if (looks > 0) return { tone: 'warn', text: `${working(unknown)}${looksText(looks, '')}${more}` }
  if (unknown > 0) return { tone: 'warn', text: 'Not everything could be checked; nothing else needs attention' }
  return { tone: 'good', text: 'Everything is working, and nothing needs attention' }
}

const things = (count: number) => (count === 1 ? '1 thing is' : `${count} things are`)
const working = (unknown: number) => (unknown > 0 ? 'What could be checked is working' : 'Everything is working')

function looksText(count: number, more: string): string {
  if (count === 0) return ''
  return count === 1
    ? `; 1${more === '' ? ' thing' : more} needs a look`
    : `; ${count}${more === '' ? ' things' : more} need a look`
}

/** The page of the console that an item names. @param link below /console, such as /disputes?status=open */
export function linkTo(link: string): LinkProps {
  const { pathname, search } = new URL(link, 'https://console.invalid')
  return { to: pathname, search: parseSearch(search) } as LinkProps
}
