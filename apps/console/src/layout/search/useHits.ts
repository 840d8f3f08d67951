// What the search offers: pages and direct links at once, and what the API finds a moment later.
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/api.ts'
import { statusOf } from '../../api/apiErrors.ts'
import type { ListedPayment } from '../../api/apiTypes.ts'
import { formatMoney } from '../../format/money.ts'
import { useMay } from '../../session/rights.ts'
import { useMayOpen } from '../pageRights.tsx'
import { directHits, type Hit, isWholeId, pageHits } from './hits.ts'

const typingMs = 200
const shownPayments = 6

/** @param text without blanks around it */
export function useHits(text: string): { readonly hits: readonly Hit[]; readonly isSearching: boolean } {
  const mayOpen = useMayOpen()
  const may = useMay()
  const [settled] = useDebouncedValue(text, typingMs)
  const isAsked = text !== '' && may('listAnyPayments')
  const found = useQuery({
    queryKey: ['search', settled],
    queryFn: ({ signal }) => find(settled, signal),
    enabled: isAsked && settled !== '',
  })
  const isCurrent = settled === text
  return {
    hits: [...((isAsked && isCurrent && found.data) || []), ...pageHits(text, mayOpen), ...directHits(text, mayOpen)],
    isSearching: isAsked && (!isCurrent || found.isFetching),
  }
}

async function find(text: string, signal: AbortSignal): Promise<readonly Hit[]> {
  const payments = await findPayments(text, signal)
  return payments.length === 0 && isWholeId(text) ? await findDelivery(text, signal) : payments
}

async function findPayments(search: string, signal: AbortSignal): Promise<readonly Hit[]> {
  const payments = await dataOf(api.listAnyPayments({ query: { search, limit: shownPayments }, signal }))
  return payments.map((payment) => ({
    key: payment.id,
    icon: 'payments',
    label: paymentText(payment),
    kind: payment.status,
    link: { to: '/payments/$id', params: { id: payment.id } },
  }))
}

function paymentText({ amount_cents, currency, concept, description, guest_email, id }: ListedPayment): string {
  const about = concept?.trim() || description?.trim() || guest_email || id
  return `${formatMoney(amount_cents, currency)}, ${about}`
}

async function findDelivery(id: string, signal: AbortSignal): Promise<readonly Hit[]> {
  try {
    const { event, endpoint } = await dataOf(api.getWebhookDelivery({ path: { id }, signal }))
    const link = { to: '/webhooks/deliveries/$id', params: { id } } as const
    return [{ key: `delivery ${id}`, icon: 'webhooks', label: `${event} to ${endpoint}`, kind: 'Delivery', link }]
  } catch (error) {
    // It is no delivery.
    if ([400, 403, 404].includes(statusOf(error) ?? 0)) return []
    throw error
  }
}
