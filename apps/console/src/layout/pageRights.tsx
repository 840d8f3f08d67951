// Which pages the signed-in administrator may open: those whose route needs an operation that they may call.
import type { OperationId } from '@paylog/client/client'
import type { Right } from '@paylog/domain/rights'
import { useMatches, useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Page } from '../parts/Page.tsx'
import { EmptyState } from '../parts/states.tsx'
import { useIdentity } from '../session/identity.ts'
import { rightsFor, rightTexts } from '../session/operationRights.ts'
import { useMay } from '../session/rights.ts'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The operation without which the page shows nothing. */
    readonly needs?: OperationId
  }
}

/** @returns whether a page may be opened, by the path of its route */
export function useMayOpen(): (path: string) => boolean {
  const { routesByPath } = useRouter()
  const may = useMay()
  return (path) => {
    const needs = Object.entries(routesByPath).find(([known]) => known === path)?.[1].options.staticData?.needs
    return needs === undefined || may(needs)
  }
}

/** The page, or what is missing to see it. */
export function PageRights({ children }: { readonly children: ReactNode }) {
  const may = useMay()
  const needs = useMatches({ select: (matches) => matches.at(-1)?.staticData.needs })
  return needs === undefined || may(needs) ? children : <MissingRight rights={rightsFor(needs)} />
}

function MissingRight({ rights }: { readonly rights: readonly Right[] }) {
  const { user_type } = useIdentity()
  return (
    <Page title="You may not open this page">
      <div className="panel">
        <EmptyState title={`It needs the right ${rights.map((right) => `“${right}”`).join(' or ')}`}>
          <p>
            That is the right to {rights.map((right) => rightTexts[right]).join(', or to ')}. Whoever operates this
            installation can give it to your user type, <code>{user_type}</code>, with the variable <code>RIGHTS</code>.
          </p>
        </EmptyState>
      </div>
    </Page>
  )
}
