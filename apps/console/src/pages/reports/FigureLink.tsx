// A figure of a report, as a link to the list whose sum it is.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** @param props `period`: the instants that the report begins and ends with; without `provider` of all providers */
export function FigureLink(props: {
  readonly list: '/payments' | '/refunds' | '/disputes'
  readonly period: { readonly from: string; readonly to: string }
  readonly currency: string
  readonly provider?: string | undefined
  readonly status?: 'succeeded'
  readonly children: ReactNode
}) {
  const { list, period, currency, provider, status, children } = props
  const search = {
    reported_in: `${period.from}/${period.to}`,
    currency,
    ...(provider && { provider_id: provider }),
    ...(status && { status }),
  }
  return (
    <Link to={list} search={search} className="figureLink">
      {children}
    </Link>
  )
}
