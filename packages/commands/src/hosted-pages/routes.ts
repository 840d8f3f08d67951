// GET /pages/authorize-net: the page behind `redirect_url`, which opens Authorize.Net's hosted form.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { hostedPagePath } from '@paylog/providers/authorize-net/plugin'
import { handleNotFound } from '@paylog/runtime/http/errors'
import type { Workflow } from '../context.ts'
import { hostedPage } from './page.ts'

/** The page is the same for everybody and holds no secret, so it needs no credential. */
export const hostedPageRoutes =
  (workflow: Workflow): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      hostedPagePath,
      // A page for browsers, not a part of the API.
      { config: { callers: 'public' }, schema: { hide: true } },
      async (request, reply) => {
        const formUrl = workflow.providers.get('authorize-net')?.hostedFormUrl
        if (formUrl === undefined) return handleNotFound(request, reply)
        const { html, contentSecurityPolicy } = hostedPage(formUrl)
        return reply
          .headers({
            'cache-control': 'no-store',
            'content-security-policy': contentSecurityPolicy,
            'referrer-policy': 'no-referrer',
            'x-content-type-options': 'nosniff',
          })
          .type('text/html; charset=utf-8')
          .send(html)
      },
    )
  }
